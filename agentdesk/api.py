"""The HTTP API: one document, and every error a problem that says where."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_update
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, Swagger
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema

import analysis.api
import analysis.incidents_api  # noqa: F401 - these add their addresses to the router
from agentdesk.logs import route_of
from agentdesk.otlp_document import ADDRESS, SCHEMAS, spans_operation
from transcripts.api import native_schemas, router
from transcripts.problems import ProblemError, problem

logger = logging.getLogger(__name__)

VERSION = "1"
DESCRIPTION = """Send runs of AI agents, and read what was odd about them.

Each request needs a key of a project (`Authorization: Bearer agd_…`). What is sent is kept sealed
before it is acknowledged, and masked before it is stored; ask for its receipt to see what became of
it. Errors are `application/problem+json` (RFC 9457) and say where (`at`)."""


class Api(NinjaAPI):
    """Adds what Django Ninja does not know: the native format, which workers read by its own
    types.
    """

    def get_openapi_schema(self, *args: Any, **options: Any) -> OpenAPISchema:
        schema = super().get_openapi_schema(*args, **options)
        schema["components"]["schemas"].update(native_schemas())
        for operations in schema["paths"].values():
            for operation in operations.values():
                _say_problems(operation)
        sends = schema["paths"]["/api/v1/runs"]["post"]
        schema["paths"][ADDRESS] = {"post": spans_operation(sends["security"])}
        schema["components"]["schemas"].update(SCHEMAS)
        return schema


def _say_problems(operation: dict[str, Any]) -> None:
    """Errors have a media type of their own."""
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if int(status) >= 400 and "application/json" in content:
            response["content"] = {"application/problem+json": content["application/json"]}


# The validator that Swagger UI would show a badge of is a service on the internet.
api = Api(
    title="Agentdesk",
    version=VERSION,
    description=DESCRIPTION,
    docs=Swagger(settings={"validatorUrl": None, "persistAuthorization": False}),
    docs_decorator=csp_update({"img-src": [SELF, "data:"], "style-src": [SELF, "'unsafe-inline'"]}),
    urls_namespace="api",
)
api.add_router("", router)


@api.exception_handler(ProblemError)
def on_problem(request: HttpRequest, error: ProblemError) -> HttpResponse:
    return error.response()


@api.exception_handler(ValidationError)
def on_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first = error.errors[0] if error.errors else {}
    at = ".".join(str(part) for part in first.get("loc", ())[1:])
    return problem(422, str(first.get("msg", "The parameters do not fit.")), at=at)


@api.exception_handler(Http404)
def on_missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, str(error) if error.args and isinstance(error.args[0], str) else NOTHING)


@api.exception_handler(PermissionDenied)
def on_denied(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem(403, str(error) or "This is not for you.")


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, str(error))


@api.exception_handler(SuspiciousOperation)
def on_suspicious(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    return problem(400, "This request cannot be read.")


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def on_outage(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("the database does not answer (%s)", type(error).__name__)
    return problem(
        503, "The database does not answer. Send it again.", headers={"Retry-After": "5"}
    )


@api.exception_handler(Exception)
def on_error(request: HttpRequest, error: Exception) -> HttpResponse:
    """The text of an error may quote what was sent, so neither answer nor log repeats it."""
    logger.error("%s %s failed: %s", request.method, route_of(request), type(error).__name__)
    return problem(500, "An error of Agentdesk. It is in the log.")


NOTHING = "There is nothing here; see /api/v1/docs."


@csrf_exempt
def nothing(request: HttpRequest, rest: str = "") -> HttpResponse:
    return problem(404, NOTHING)


def api_urls() -> tuple[list[Any], str, str]:
    """The addresses below /api/v1/, for `path`; whatever else is asked there is a problem too."""
    patterns, app_name, namespace = api.urls
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            pattern.callback = _with_problems(pattern.callback)
    return [*patterns, path("<path:rest>", nothing), path("", nothing)], app_name, namespace


def _with_problems(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Http404:
            return problem(404, NOTHING)
        if response.status_code == 405:
            allowed = response.get("Allow", "")
            detail = f"This address takes {allowed}." if allowed else "Not with this method."
            return problem(405, detail, headers={"Allow": allowed} if allowed else None)
        return response

    return answered
