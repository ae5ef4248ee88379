"""How the runs of a project go, over time and by version."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection

from analysis.models import Annotation, AnnotationKind
from analysis.selectors.windows import Window
from transcripts.models import Project, Run

MOST_GROUPS = 30
AGENTS_FROM_LATEST = 2_000

_WHERE = """
FROM transcripts_run r LEFT JOIN analysis_verdict v ON v.run_id = r.id
WHERE r.project_id = %(project)s AND r.received_at >= %(since)s
  AND (%(agent)s = '' OR r.agent = %(agent)s)
"""
_FIGURES = """
       count(*), count(*) FILTER (WHERE v.flagged), sum(r.round_count),
       sum(coalesce(r.tokens_in, 0) + coalesce(r.tokens_out, 0)),
       count(*) FILTER (WHERE v.wasted_rounds > 0 OR v.kind = 'repeats')
"""
_DAYS = f"""
SELECT (r.received_at AT TIME ZONE %(zone)s)::date, r.ending,
       coalesce(nullif(v.cost_currency, ''), 'USD'), sum(v.cost), {_FIGURES}
{_WHERE} GROUP BY 1, 2, 3
"""
_GROUPS = f"""
SELECT r.agent, r.prompt_version, r.code_version, {_FIGURES},
       percentile_disc(0.5) WITHIN GROUP (ORDER BY r.round_count), max(r.received_at)
{_WHERE} GROUP BY 1, 2, 3 ORDER BY max(r.received_at) DESC LIMIT {MOST_GROUPS}
"""


@dataclass
class Day:
    """One day: runs by ending, and sums. `cost` is by currency."""

    day: date
    endings: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    flagged: int = 0
    rounds: int = 0
    tokens: int = 0
    loops: int = 0
    cost: dict[str, Decimal] = field(default_factory=dict)

    def add(self, ending: str, row: tuple[Any, ...]) -> None:
        runs, flagged, rounds, tokens, loops = (int(figure or 0) for figure in row)
        self.endings[ending] = self.endings.get(ending, 0) + runs
        self.runs += runs
        self.flagged += flagged
        self.rounds += rounds
        self.tokens += tokens
        self.loops += loops


@dataclass(frozen=True)
class VersionRow:
    """Runs of one agent under one prompt and code version."""

    agent: str
    prompt_version: str
    code_version: str
    runs: int
    flagged: int
    rounds: int
    tokens: int
    loops: int
    median_rounds: int

    @property
    def flagged_share(self) -> float:
        return self.flagged / self.runs


@dataclass(frozen=True)
class SuiteRecord:
    """How often the detectors named the first odd round that people named, of those asked."""

    right: int
    asked: int


def days(*, project: Project, window: Window, agent: str = "", zone: str = "UTC") -> list[Day]:
    """Days from the first run to the last, ascending. One query. Loops are runs in which a call
    repeated itself past the third time, or that ended so.
    """
    asked = _asked(project, window, agent) | {"zone": zone}
    found: dict[date, Day] = {}
    with connection.cursor() as cursor:
        cursor.execute(_DAYS, asked)
        for at, ending, currency, cost, *figures in cursor.fetchall():
            day = found.setdefault(at, Day(at))
            day.add(ending, tuple(figures))
            if cost is not None:
                day.cost[currency] = day.cost.get(currency, Decimal(0)) + cost
    return _without_gaps(found)


def _without_gaps(found: dict[date, Day]) -> list[Day]:
    """All days from the first to the last; on some of them no run came."""
    if not found:
        return []
    first, last = min(found), max(found)
    whole = (first + timedelta(days=at) for at in range((last - first).days + 1))
    return [found.get(day) or Day(day) for day in whole]


def versions(*, project: Project, window: Window, agent: str = "") -> list[VersionRow]:
    """Agents and versions, those with the latest run first."""
    with connection.cursor() as cursor:
        cursor.execute(_GROUPS, _asked(project, window, agent))
        return [
            VersionRow(*row[:3], *(int(figure or 0) for figure in row[3:9]))
            for row in cursor.fetchall()
        ]


def suite_record(*, project: Project, window: Window, agent: str = "") -> SuiteRecord:
    """How often the suite was right, as people say (`odd_round` annotations) of an agent's runs."""
    words = Annotation.objects.filter(
        project=project, kind=AnnotationKind.ODD_ROUND, removed_at=None
    )
    if agent:
        words = words.filter(run__agent=agent)
    if window.since is not None:
        words = words.filter(created_at__gte=window.since)
    rows = words.order_by("pk").values_list("round", "said_round")
    right = asked = 0
    for really, said in rows.iterator():
        asked += 1
        right += really == said
    return SuiteRecord(right, asked)


def totals(rows: list[Day]) -> Day:
    """The sum of days."""
    found = Day(date.min)
    costs: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        found.runs += row.runs
        found.flagged += row.flagged
        found.rounds += row.rounds
        found.tokens += row.tokens
        found.loops += row.loops
        for ending, count in row.endings.items():
            found.endings[ending] = found.endings.get(ending, 0) + count
        for currency, cost in row.cost.items():
            costs[currency] += cost
    found.cost = dict(costs)
    return found


def _asked(project: Project, window: Window, agent: str) -> dict[str, Any]:
    return {"project": project.pk, "since": window.since or "-infinity", "agent": agent}


def agents_of(*, project: Project) -> list[str]:
    """The agents of the latest runs, by name."""
    latest = Run.objects.filter(project=project).order_by("-received_at", "-pk").values("pk")
    found = Run.objects.filter(pk__in=latest[:AGENTS_FROM_LATEST]).exclude(agent="")
    return sorted(found.order_by().values_list("agent", flat=True).distinct())
