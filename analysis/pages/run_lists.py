"""The run list, for pages and API alike: its filters, its pages by key set, and what stands before
and after a run in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from analysis.models import Finding
from transcripts.access import May, Reader
from transcripts.choices import Ending, Removal
from transcripts.models import Project, Run

ROWS_PER_PAGE = 25
# Counts stop here and say "more than"; nobody reads on from 10,000, and counting all of a million
# is slow.
COUNT_UP_TO = 10_000
# The filters offer what occurs in so many of the latest runs.
OPTIONS_FROM_LATEST = 2_000
TABS = {"flagged": "Flagged", "all": "All", "live": "Live"}
# What the API can ask for besides.
UNFLAGGED = "unflagged"
COLUMNS = {
    "agent": "agent",
    "ending": "ending",
    "model": "model",
    "prompt": "prompt_version",
    "ticket": "ticket_id",
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CursorError(ValueError):
    """A cursor is none that `cursor_of` gave."""


@dataclass(frozen=True)
class RunFilter:
    """What a run list shows; all of it stands in the address. Empty strings filter nothing.

    `ticket` is a whole ticket id, `label` is `name=value`, `q` the beginning of a ticket or run id
    or words of a title.
    """

    tab: str = "flagged"
    agent: str = ""
    ending: str = ""
    finding: str = ""
    tool: str = ""
    model: str = ""
    prompt: str = ""
    ticket: str = ""
    label: str = ""
    q: str = ""

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> RunFilter:
        """From a query string; an unknown tab counts as the first."""
        said = {
            item.name: str(query.get(item.name) or "").replace("\x00", "").strip()
            for item in fields(cls)
        }
        if said["tab"] not in TABS:
            said["tab"] = "flagged"
        return cls(**said)

    @classmethod
    def of_text(cls, text: str) -> RunFilter:
        """From what `text` wrote."""
        return cls.of(QueryDict(text))

    @property
    def narrowing(self) -> dict[str, str]:
        """The filters that are set, without the tab."""
        pairs = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in pairs.items() if value and name != "tab"}

    @property
    def text(self) -> str:
        """As a query string, without what is default."""
        tab = {} if self.tab == "flagged" else {"tab": self.tab}
        return urlencode({**tab, **self.narrowing})

    def on(self, tab: str) -> RunFilter:
        return replace(self, tab=tab)


@dataclass(frozen=True)
class RunPage:
    """One page of the list; `older` and `newer` are the query strings of the pages beside it.
    `cursor` goes on after the last run, None at the end.
    """

    runs: list[Run] = field(default_factory=list)
    older: str = ""
    newer: str = ""
    cursor: str | None = None


def runs_matching(*, project: Project, wanted: RunFilter, reader: Reader | None) -> QuerySet[Run]:
    """All runs of the project that match, in no order. The search looks at the titles that
    `reader` may read and at no others: which runs it finds would tell what stands in them.
    No reader stands for an API key, which reads all but restricted runs.
    """
    runs = Run.objects.filter(project=project).exclude(removal=Removal.RUN)
    if wanted.tab == "flagged":
        runs = runs.filter(verdict__flagged=True)
    elif wanted.tab == UNFLAGGED:
        runs = runs.filter(verdict__flagged=False)
    elif wanted.tab == "live":
        runs = runs.filter(ending=Ending.OPEN)
    for name, column in COLUMNS.items():
        value = getattr(wanted, name)
        if value:
            runs = runs.filter(**{column: value})
    if wanted.label:
        name, equals, value = wanted.label.partition("=")
        runs = runs.filter(labels__contains=[[name, value]]) if equals else runs.none()
    if wanted.finding or wanted.tool:
        found = Finding.objects.filter(run=OuterRef("pk"))
        if wanted.finding:
            found = found.filter(detector=wanted.finding)
        if wanted.tool:
            found = found.filter(tool=wanted.tool)
        runs = runs.filter(Exists(found))
    if wanted.q:
        names = Q(ticket_id__istartswith=wanted.q) | Q(run_id__istartswith=wanted.q)
        runs = runs.filter(names | _titled(wanted.q, reader))
    return runs


def _titled(words: str, reader: Reader | None) -> Q:
    if reader is not None and not reader.may(May.READ_TRANSCRIPTS):
        return Q(pk__in=())
    found = Q(title__icontains=words)
    return found if reader is not None and reader.restricted else found & Q(restricted=False)


def run_page(
    *,
    project: Project,
    wanted: RunFilter,
    reader: Reader | None,
    before: str = "",
    after: str = "",
    limit: int | None = None,
) -> RunPage:
    """One page, newest first, of `limit` runs or ROWS_PER_PAGE. One query. `before` and `after` are
    cursors of `cursor_of`; a bad one is passed over.

    Pages by arrival and id, so that a page far down costs no more than the first and runs that
    come in between shift nothing.
    """
    limit = limit or ROWS_PER_PAGE
    matching = runs_matching(project=project, wanted=wanted, reader=reader)
    matching = matching.select_related("verdict")
    place_before, place_after = _place(before), _place(after)
    if place_after is not None:
        rows = list(_newer_than(matching, place_after).order_by("received_at", "pk")[: limit + 1])
        more_newer, more_older = len(rows) > limit, True
        rows = rows[:limit][::-1]
    else:
        if place_before is not None:
            matching = _older_than(matching, place_before)
        rows = list(matching.order_by("-received_at", "-pk")[: limit + 1])
        more_newer, more_older = place_before is not None, len(rows) > limit
        rows = rows[:limit]
    return RunPage(
        rows,
        older=_paged(wanted, "before", rows[-1]) if rows and more_older else "",
        newer=_paged(wanted, "after", rows[0]) if rows and more_newer else "",
        cursor=cursor_of(rows[-1]) if rows and more_older else None,
    )


def run_counts(*, project: Project, wanted: RunFilter, reader: Reader) -> dict[str, int]:
    """How many runs each tab would show, up to `COUNT_UP_TO` + 1. One query a tab."""
    return {
        tab: runs_matching(project=project, wanted=wanted.on(tab), reader=reader)
        .values("pk")[: COUNT_UP_TO + 1]
        .count()
        for tab in TABS
    }


def filter_options(*, project: Project) -> dict[str, list[str]]:
    """What the filters offer: the agents, models, prompt versions and odd tools of the latest
    runs.
    """
    latest = Run.objects.filter(project=project).order_by("-received_at", "-pk")
    rows = (
        Run.objects.filter(pk__in=latest.values("pk")[:OPTIONS_FROM_LATEST])
        .order_by()
        .values_list("agent", "model", "prompt_version", "verdict__odd_tool")
        .distinct()
    )
    names = ("agent", "model", "prompt", "tool")
    found: dict[str, set[str]] = {name: set() for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            if value:
                found[name].add(value)
    return {name: sorted(values)[:200] for name, values in found.items()}


def neighbours(
    *, run: Run, project: Project, wanted: RunFilter, reader: Reader
) -> tuple[Run | None, Run | None]:
    """The run above and the run below `run` in the list. One query."""
    matching = runs_matching(project=project, wanted=wanted, reader=reader).only(
        "pk", "received_at"
    )
    place = (run.received_at, run.pk)
    above = _newer_than(matching, place).order_by("received_at", "pk")[:1]
    below = _older_than(matching, place).order_by("-received_at", "-pk")[:1]
    newer = older = None
    for other in above.union(below):
        if (other.received_at, other.pk) > place:
            newer = other
        else:
            older = other
    return newer, older


def cursor_of(run: Run) -> str:
    """A run's place in the list: microseconds since 1970, and its id."""
    return f"{(run.received_at - EPOCH) // timedelta(microseconds=1)}-{run.pk}"


def cursor_check(cursor: str) -> None:
    """Raise CursorError for what `cursor_of` never gave; an empty one is the list's beginning."""
    if cursor and _place(cursor) is None:
        raise CursorError("This is no cursor of this list.")


def _place(cursor: str) -> tuple[datetime, int] | None:
    micros, dash, pk = cursor.partition("-")
    if not (dash and micros.isdecimal() and pk.isdecimal() and len(micros) <= 17 and len(pk) <= 18):
        return None
    return EPOCH + timedelta(microseconds=int(micros)), int(pk)


def _older_than(runs: QuerySet[Run], place: tuple[datetime, int]) -> QuerySet[Run]:
    at, pk = place
    return runs.filter(Q(received_at__lt=at) | Q(received_at=at, pk__lt=pk), received_at__lte=at)


def _newer_than(runs: QuerySet[Run], place: tuple[datetime, int]) -> QuerySet[Run]:
    at, pk = place
    return runs.filter(Q(received_at__gt=at) | Q(received_at=at, pk__gt=pk), received_at__gte=at)


def _paged(wanted: RunFilter, name: str, run: Run) -> str:
    return "&".join(filter(None, [wanted.text, urlencode({name: cursor_of(run)})]))
