"""Reads of runs with what we think of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q

from analysis.models import Finding
from transcripts.models import Project, Run

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CursorError(ValueError):
    """A cursor is none that `run_list` gave."""


@dataclass(frozen=True)
class RunPage:
    """Runs newest first, with their verdicts; `cursor` goes on after the last, None at the end."""

    runs: list[Run]
    cursor: str | None


def run_list(
    *,
    project: Project,
    agent: str = "",
    ending: str = "",
    model: str = "",
    prompt_version: str = "",
    label: tuple[str, str] | None = None,
    ticket: str = "",
    flagged: bool | None = None,
    cursor: str = "",
    limit: int = 50,
) -> RunPage:
    """A page of the project's runs; empty filters let everything through. One query.

    Pages by arrival and id, so that a page far down costs no more than the first and runs that
    come in between shift nothing.
    """
    wanted = Q(project=project)
    for name, value in (
        ("agent", agent),
        ("ending", ending),
        ("model", model),
        ("prompt_version", prompt_version),
        ("ticket_id", ticket),
        ("verdict__flagged", flagged),
    ):
        if value not in ("", None):
            wanted &= Q(**{name: value})
    if label is not None:
        wanted &= Q(labels__contains=[list(label)])
    if cursor:
        at, pk = _place(cursor)
        wanted &= Q(received_at__lt=at) | Q(received_at=at, pk__lt=pk)
    found = Run.objects.filter(wanted).select_related("verdict").order_by("-received_at", "-pk")
    runs = list(found[: limit + 1])
    more = len(runs) > limit
    return RunPage(runs[:limit], _cursor(runs[limit - 1]) if more else None)


def finding_list(*, run: Run) -> list[Finding]:
    """The run's findings in order of rounds, calls and detectors."""
    return list(Finding.objects.filter(run=run).order_by("order"))


def _cursor(run: Run) -> str:
    return f"{(run.received_at - EPOCH) // timedelta(microseconds=1)}-{run.pk}"


def _place(cursor: str) -> tuple[datetime, int]:
    micros, _, pk = cursor.partition("-")
    if not (micros.isdecimal() and pk.isdecimal() and len(micros) <= 16 and len(pk) <= 18):
        raise CursorError("This is no cursor of this list.")
    return EPOCH + timedelta(microseconds=int(micros)), int(pk)
