"""Pass rates of a case by version: the table, the chart, and the words of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Sum

from analysis.case_editing.words import comparison_words
from analysis.cases.harness import wilson
from analysis.models import CaseResult, TestCase

PARTS = {"prompt": "prompt_version", "model": "model_version", "code": "code_version"}
# By what the table can be grouped, in words.
GROUPINGS = {"": "each version", "prompt": "prompt", "model": "model", "code": "code"}
MOST_ROWS = 200
POINTS = 24
HEIGHT = 100
STEP = 10
# The list's small picture shows so many versions.
STRIP = 12


@dataclass
class VersionRow:
    """What came of one version (or of one prompt, model or code) of a state of the case.

    `latest` is its latest result's id. `words` compare it with the accepted version.
    """

    names: dict[str, str]
    revision: int | None
    runs: int
    passed: int
    results: int
    latest: int
    last_at: datetime
    accepted: bool = False
    words: str = ""
    tone: str = "quiet"

    @property
    def rate(self) -> float:
        return self.passed / self.runs

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, self.runs)

    @property
    def rate_words(self) -> str:
        return f"{self.rate:.0%}"

    @property
    def interval_words(self) -> str:
        low, high = self.interval
        return f"{low:.0%} to {high:.0%}"

    @property
    def name(self) -> str:
        said = [f"{part} {value}" for part, value in self.names.items() if value]
        return ", ".join(said) or "no version said"

    @property
    def counts(self) -> dict[str, int]:
        return {"passed": self.passed, "runs": self.runs}


def version_rows(case: TestCase, by: str = "") -> list[VersionRow]:
    """What came of each version, the latest first; each compared with the accepted one where both
    are of one state of the case. At most `MOST_ROWS`.
    """
    parts = {by: PARTS[by]} if by in PARTS else PARTS
    grouped = (
        CaseResult.objects.filter(case=case)
        .values(*parts.values(), "revision")
        .annotate(
            all_runs=Sum("runs"),
            all_passed=Sum("passed"),
            results=Count("pk"),
            latest=Max("pk"),
            last_at=Max("received_at"),
        )
        .order_by("-last_at", "-latest")[:MOST_ROWS]
    )
    rows = [
        VersionRow(
            names={part: row[column] for part, column in parts.items()},
            revision=row["revision"],
            runs=row["all_runs"],
            passed=row["all_passed"],
            results=row["results"],
            latest=row["latest"],
            last_at=row["last_at"],
        )
        for row in grouped
    ]
    compare_rows(rows, case.accepted, parts)
    return rows


def compare_rows(
    rows: Sequence[VersionRow], accepted: CaseResult | None, parts: dict[str, str]
) -> None:
    """Mark the accepted version's row, and say of the others how they differ from it."""
    if accepted is None:
        return
    names = {part: getattr(accepted, column) for part, column in parts.items()}
    for row in rows:
        row.accepted = row.names == names and row.revision == accepted.revision
    base = next((row for row in rows if row.accepted), None)
    if base is None:
        return
    for row in rows:
        if row.accepted:
            row.words = "accepted"
        elif row.revision is None or row.revision != base.revision:
            row.words = "of another revision, so not compared"
        else:
            row.words, row.tone = comparison_words(base.counts, row.counts)


@dataclass(frozen=True)
class Chart:
    """Pass rates as SVG paths, the oldest version on the left: `width` by `HEIGHT` units.

    Dots are lines of no length with round ends, so that they stay round however wide it is drawn.
    """

    width: int
    height: int
    whiskers: str
    dots: tuple[tuple[str, str], ...]
    accepted: str
    first: VersionRow
    last: VersionRow
    shown: int
    words: str


def version_chart(rows: Sequence[VersionRow]) -> Chart | None:
    """The chart of the latest `POINTS` rows; None where there is nothing to draw."""
    shown = list(reversed(rows[:POINTS]))
    if not shown:
        return None
    whiskers: list[str] = []
    dots: dict[str, list[str]] = {"good": [], "warn": [], "bad": [], "accepted": []}
    for at, row in enumerate(shown):
        x = at * STEP + STEP / 2
        low, high = row.interval
        whiskers.append(f"M{x:g} {down(high)}V{down(low)}")
        tone = "accepted" if row.accepted else rate_tone(row.rate)
        dots[tone].append(f"M{x:g} {down(row.rate)}h0")
    base = next((row for row in shown if row.accepted), None)
    width = len(shown) * STEP
    return Chart(
        width=width,
        height=HEIGHT,
        whiskers="".join(whiskers),
        dots=tuple((tone, "".join(paths)) for tone, paths in dots.items() if paths),
        accepted=f"M0 {down(base.rate)}H{width}" if base else "",
        first=shown[0],
        last=shown[-1],
        shown=len(shown),
        words=f"Pass rates of {len(shown)} versions, from {shown[0].rate_words}"
        f" to {shown[-1].rate_words}; the table says each.",
    )


def rate_tone(rate: float) -> str:
    """All passed, some failed, none passed."""
    return "good" if rate == 1 else "warn" if rate else "bad"


def down(share: float) -> str:
    """A share as units from the top, with room for half a dot at both ends."""
    return f"{4 + (1 - share) * (HEIGHT - 8):.4g}"


def version_strips(cases: Sequence[TestCase]) -> dict[int, list[tuple[str, str]]]:
    """By case: (tone, path) of small bars, a bar a version, the oldest on the left. One query."""
    grouped: Any = (
        CaseResult.objects.filter(case__in=cases)
        .values("case_id", *PARTS.values(), "revision")
        .annotate(all_runs=Sum("runs"), all_passed=Sum("passed"), last_at=Max("received_at"))
        .order_by("case_id", "-last_at")
    )
    bars: dict[int, list[float]] = {}
    for row in grouped:
        rates = bars.setdefault(row["case_id"], [])
        if len(rates) < STRIP:
            rates.append(row["all_passed"] / row["all_runs"])
    return {case: strip(list(reversed(rates))) for case, rates in bars.items()}


def strip(rates: Sequence[float]) -> list[tuple[str, str]]:
    paths: dict[str, list[str]] = {}
    for at, rate in enumerate(rates):
        tall = max(1.5, rate * 10)
        paths.setdefault(rate_tone(rate), []).append(
            f"M{at + 0.1:g} {10 - tall:.3g}h.8v{tall:.3g}h-.8z"
        )
    return [(tone, "".join(parts)) for tone, parts in sorted(paths.items())]
