"""Errors of the API as RFC 9457 `application/problem+json`, which say where."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse

from transcripts.importers.fields import json_text

MEDIA_TYPE = "application/problem+json"


class ProblemError(Exception):
    """An answer other than success. `at` says where in the request: `$.rounds[2].stop`,
    "line 3".
    """

    def __init__(
        self, status: int, detail: str, *, at: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.at = at
        self.headers = headers or {}

    def response(self) -> HttpResponse:
        return problem(self.status, self.detail, at=self.at, headers=self.headers)


def problem(
    status: int, detail: str, *, at: str = "", headers: dict[str, str] | None = None, **more: Any
) -> HttpResponse:
    """A problem answer; `more` are further members, as RFC 9457 allows."""
    members: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if at:
        members["at"] = at
    return HttpResponse(
        json_text(members | more), status=status, content_type=MEDIA_TYPE, headers=headers
    )
