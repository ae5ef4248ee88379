"""What the tools of a project did, over many runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from analysis.selectors.windows import Window
from analysis.tool_totals import percentile
from transcripts.models import Project

MOST_TOOLS = 200

_TOTALS = """
SELECT u.tool, count(*), sum(u.calls), sum(u.failed), sum(u.hidden), sum(u.empty),
       sum(u.unanswered), sum(u.findings)
FROM analysis_tooluse u JOIN transcripts_run r ON r.id = u.run_id
WHERE r.project_id = %(project)s AND r.received_at >= %(since)s
  AND (%(agent)s = '' OR r.agent = %(agent)s)
GROUP BY u.tool ORDER BY sum(u.calls) DESC, u.tool LIMIT %(limit)s
"""
_TIMES = """
SELECT u.tool, step, count(*)
FROM analysis_tooluse u JOIN transcripts_run r ON r.id = u.run_id,
     unnest(u.steps) AS step
WHERE r.project_id = %(project)s AND r.received_at >= %(since)s
  AND (%(agent)s = '' OR r.agent = %(agent)s) AND u.tool = ANY(%(tools)s)
GROUP BY u.tool, step
"""


@dataclass(frozen=True)
class ToolRow:
    """One tool: runs and calls, and of the calls those that failed (of them hidden: without an
    error flag), came back empty or not at all; findings about it and their share of all; times
    in milliseconds.
    """

    tool: str
    runs: int
    calls: int
    failed: int
    hidden: int
    empty: int
    unanswered: int
    findings: int
    share: float
    p50: float | None
    p95: float | None


def tool_rows(*, project: Project, window: Window, agent: str = "") -> list[ToolRow]:
    """The tools of a project in the window, the most called first. Two queries."""
    asked = {
        "project": project.pk,
        "since": window.since or "-infinity",
        "agent": agent,
        "limit": MOST_TOOLS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TOTALS, asked)
        totals = cursor.fetchall()
        times: dict[str, list[tuple[int, int]]] = defaultdict(list)
        cursor.execute(_TIMES, {**asked, "tools": [row[0] for row in totals]})
        for tool, step, count in cursor.fetchall():
            times[tool].append((step, count))
    found = sum(int(row[7]) for row in totals) or 1
    return [_row(row, found, times[row[0]]) for row in totals]


def _row(row: Sequence[Any], findings: int, times: list[tuple[int, int]]) -> ToolRow:
    tool, runs, calls, failed, hidden, empty, unanswered, about = row
    return ToolRow(
        tool=tool,
        runs=runs,
        calls=int(calls),
        failed=int(failed),
        hidden=int(hidden),
        empty=int(empty),
        unanswered=int(unanswered),
        findings=int(about),
        share=int(about) / findings,
        p50=percentile(times, 0.5),
        p95=percentile(times, 0.95),
    )
