"""How the runs of a project go, over time and by version."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from analysis.pages.charts import Chart, bars
from analysis.selectors.insights import Day, agents_of, days, suite_record, totals, versions
from analysis.selectors.windows import CHOICES, Window
from transcripts.access import May, Reader
from transcripts.choices import Ending
from transcripts.pages import project_page

# What ends well, what a person takes over, and what does not end well; one colour each.
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("finished", "good", (Ending.FINISHED,)),
    ("handed off", "warn", (Ending.HANDED_OFF,)),
    ("stopped or at a limit", "breach", (Ending.STOPPED, Ending.ROUND_LIMIT, Ending.REPEATED_CALL)),
    ("cut off, blocked or failed", "bad", (Ending.CUT_OFF, Ending.BLOCKED, Ending.ERROR)),
    ("still going", "quiet", (Ending.OPEN,)),
)


@require_safe
@project_page(May.SEE_RUNS)
def insights(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Endings, flagged runs, rounds, tokens, cost and loops by day; agents by version."""
    window = Window.of(request.GET.get("days", ""))
    agent = request.GET.get("agent", "").replace("\x00", "")[:300]
    zone = timezone.get_current_timezone_name()
    rows = days(project=reader.project, window=window, agent=agent, zone=zone)
    total = totals(rows)
    context = {
        "section": "insights",
        "window": window,
        "windows": CHOICES,
        "kept": window.runs_query(agent),
        "since": window.runs_query(""),
        "agent": agent,
        "agents": agents_of(project=reader.project),
        "days": [(row, _by_group(row)) for row in reversed(rows)],
        "total": total,
        "charts": _charts(rows, sorted(total.cost)),
        "versions": versions(project=reader.project, window=window, agent=agent),
        "suite": suite_record(project=reader.project, window=window, agent=agent),
        "groups": [
            (name, count, tone)
            for (name, tone, _), count in zip(GROUPS, _by_group(total), strict=True)
        ],
    }
    return render(request, "analysis/insights.html", context)


def _by_group(row: Day) -> list[int]:
    """The day's runs by how they ended, in the order of GROUPS."""
    return [sum(row.endings.get(each, 0) for each in group) for _, _, group in GROUPS]


def _charts(rows: Sequence[Day], currencies: Sequence[str]) -> list[Chart]:
    if not rows:
        return []
    labels = [f"{row.day:%-d %b}" for row in rows]

    def one(title: str, tone: str, figures: Sequence[float], unit: str) -> Chart:
        columns = [(label, (figure,)) for label, figure in zip(labels, figures, strict=True)]
        return bars(title=title, names=((title, tone),), columns=columns, unit=unit)

    charts = [
        bars(
            title="How runs ended",
            names=[(name, tone) for name, tone, _ in GROUPS],
            columns=[(label, _by_group(row)) for label, row in zip(labels, rows, strict=True)],
            unit="runs",
        ),
        one("Flagged runs", "bad", [row.flagged for row in rows], "runs"),
        one("Runs with a loop", "warn", [row.loops for row in rows], "runs"),
        one("Rounds", "quiet", [row.rounds for row in rows], "rounds"),
        one("Tokens read and written", "quiet", [row.tokens for row in rows], "tokens"),
    ]
    charts += [
        one(
            f"Cost in {currency}",
            "quiet",
            [float(row.cost.get(currency, 0)) for row in rows],
            currency,
        )
        for currency in currencies
    ]
    return charts
