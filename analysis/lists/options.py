"""What the filters of the run list offer, with counts, and how a set filter is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.core.cache import caches
from django.db import connection

from analysis.choices import VerdictKind
from analysis.detectors import all_detectors
from analysis.detectors.base import Detector
from analysis.lists.filters import ME, NOBODY, SINCE, YES_NO, RunFilter
from analysis.words import detector_title, verdict_label
from transcripts.choices import Ending, StopReason
from transcripts.models import Membership, Project

# The filters offer what occurs in so many of the latest runs.
OPTIONS_FROM_LATEST = 2_000
# Tools called are looked up in the first rounds of so many.
CALLS_OF_LATEST, CALLS_UP_TO_ROUND = 200, 20
MOST_OPTIONS = 200
# In a project with more runs than are looked at, what they offer hardly changes in so short a time.
KEPT_SECONDS = 30
COLUMNS = {
    "agent": "r.agent",
    "model": "r.model",
    "prompt": "r.prompt_version",
    "code": "r.code_version",
    "tool": "v.odd_tool",
    "ending": "r.ending",
    "verdict": "v.kind",
}
_NAMES = ", ".join(f"{column} AS {name}" for name, column in COLUMNS.items())
_SETS = ", ".join(f"({name})" for name in COLUMNS)
_NOTHING = ", ".join("NULL" for _ in COLUMNS)
_COUNTED = f"""
WITH latest AS MATERIALIZED (
    SELECT {_NAMES} FROM transcripts_run r LEFT JOIN analysis_verdict v ON v.run_id = r.id
    WHERE r.project_id = %s ORDER BY r.id DESC LIMIT %s
)
SELECT NULL AS called, count(*), {", ".join(COLUMNS)} FROM latest GROUP BY GROUPING SETS ({_SETS})
UNION ALL
SELECT name, 0, {_NOTHING} FROM (
    SELECT DISTINCT name FROM transcripts_toolcall
    WHERE round_number <= %s AND name <> '' AND run_id IN (
        SELECT id FROM transcripts_run WHERE project_id = %s ORDER BY id DESC LIMIT %s
    ) LIMIT %s
) AS calls
"""
LABELS = {
    "agent": "Agent",
    "ending": "Ending",
    "verdict": "What happened",
    "finding": "Finding",
    "tool": "Tool at fault",
    "called": "Tool called",
    "stop": "Stop reason",
    "model": "Model",
    "prompt": "Prompt version",
    "code": "Code version",
    "ticket": "Ticket",
    "label": "Label",
    "cost_from": "Cost from",
    "cost_to": "Cost up to",
    "rounds_from": "Rounds from",
    "rounds_to": "Rounds up to",
    "since": "Came in",
    "from": "Came in from",
    "to": "Came in until",
    "restricted": "Restricted",
    "incomplete": "Incomplete",
    "sub": "Sub-run",
    "owner": "Owner",
    "incident": "Incident",
    "q": "Search",
}
# Filters that stand open in the page's first line; the others are one click away.
FIRST = ("agent", "verdict", "finding", "since", "owner")
PEOPLE = 100


@dataclass(frozen=True)
class Choice:
    """One value that a filter offers, in words; `count` of the latest runs have it, None: not
    counted.
    """

    value: str
    words: str
    count: int | None = None


@dataclass
class Filter:
    """One filter as a form shows it."""

    name: str
    label: str
    chosen: str
    choices: list[Choice] = field(default_factory=list)

    @property
    def words(self) -> str:
        """What is chosen, in words."""
        return next((each.words for each in self.choices if each.value == self.chosen), self.chosen)


@dataclass(frozen=True)
class Offered:
    """What occurs in the latest runs: agents, models, versions, odd tools, endings and verdicts,
    each with how many of the runs have it; and the names of the tools that were called.
    """

    counts: dict[str, Counter[str]]
    called: list[str]


def options_offered(*, project: Project) -> Offered:
    """What the filters offer, at most KEPT_SECONDS old. One query, or none."""
    cache, key = caches["memory"], f"filters-{project.pk}"
    offered: Offered | None = cache.get(key)
    if offered is None:
        offered = _offered(project)
        if offered.counts["ending"].total() >= OPTIONS_FROM_LATEST:
            cache.set(key, offered, KEPT_SECONDS)
    return offered


def _offered(project: Project) -> Offered:
    offered = Offered({name: Counter() for name in COLUMNS}, [])
    calls = (CALLS_UP_TO_ROUND, project.pk, CALLS_OF_LATEST, MOST_OPTIONS)
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, (project.pk, OPTIONS_FROM_LATEST, *calls))
        for called, count, *values in cursor.fetchall():
            if called:
                offered.called.append(called)
            for name, value in zip(COLUMNS, values, strict=True):
                if value:
                    offered.counts[name][value] = count
    offered.called.sort()
    return offered


def filters_of(*, project: Project, wanted: RunFilter) -> list[Filter]:
    """The filters that offer a choice, each with what it offers."""
    latest = options_offered(project=project)
    found = latest.counts
    offered = {name: _counted(found[name]) for name in ("agent", "model", "prompt", "code", "tool")}
    offered["ending"] = _known(Ending.choices, found["ending"])
    kinds = [(kind.value, verdict_label(kind)[0]) for kind in VerdictKind]
    offered["verdict"] = _known(kinds, found["verdict"])
    offered["finding"] = [
        Choice(detector.name, detector_title(detector.name)) for detector in _by_title()
    ]
    offered["called"] = [Choice(name, name) for name in latest.called]
    offered["stop"] = _known(StopReason.choices, None)
    offered["since"] = [Choice(value, words) for value, (words, _) in SINCE.items()]
    offered["owner"] = [Choice(ME, "me"), Choice(NOBODY, "nobody"), *_people(project)]
    for name in ("restricted", "incomplete", "sub"):
        offered[name] = _known(YES_NO.items(), None)
    filters = []
    for name in LABELS:
        if name in offered:
            chosen = getattr(wanted, name)
            choices = offered[name]
            if chosen and chosen not in {choice.value for choice in choices}:
                choices = [Choice(chosen, chosen), *choices]
            if choices:
                filters.append(Filter(name, LABELS[name], chosen, choices))
    return filters


def chips_of(*, wanted: RunFilter, filters: Iterable[Filter]) -> list[tuple[str, str, str]]:
    """The filters that are set as (label, value in words, the list's query without it)."""
    words = {each.name: each.words for each in filters}
    return [
        (LABELS[name], words.get(name, value), wanted.without(name).text)
        for name, value in wanted.narrowing.items()
    ]


def _counted(found: Counter[str]) -> list[Choice]:
    common = found.most_common(MOST_OPTIONS)
    return [Choice(value, value, count) for value, count in sorted(common)]


def _known(choices: Iterable[tuple[str, object]], found: Counter[str] | None) -> list[Choice]:
    return [
        Choice(value, str(words), None if found is None else found[value])
        for value, words in choices
    ]


def _by_title() -> list[Detector]:
    return sorted(all_detectors(), key=lambda detector: detector_title(detector.name))


def _people(project: Project) -> list[Choice]:
    members = Membership.objects.filter(project=project).select_related("user")
    return [
        Choice(str(member.user_id), member.user.short_name)
        for member in members.order_by("user__email")[:PEOPLE]
    ]
