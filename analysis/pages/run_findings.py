"""The findings of one run as its page needs them: all of a usual run, the nearest of a run full of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db.models import Count, Max, Min, Q

from analysis.models import Finding
from transcripts.models import Run

# Fetched at once; a run with more is rare, and its other findings come with the rounds that are
# shown.
FETCHED = 300

Span = tuple[int, int]


class RunFindings:
    """Findings in order of rounds. `rows` are all, or the first `FETCHED` and those of the shown
    rounds.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        rows = list(Finding.objects.filter(run=run).order_by("order")[: FETCHED + 1])
        self.all_here = len(rows) <= FETCHED
        self.rows = rows[:FETCHED]
        self.total = len(self.rows)
        self._gaps: dict[Span, int] = {}

    def fetch_for(self, shown: Sequence[Span]) -> None:
        """Get what `rows` lacks for the shown rounds. One query, or none."""
        if self.all_here or not shown:
            return
        here = {finding.pk for finding in self.rows}
        near = Q()
        for first, last in shown:
            near |= Q(round__gte=first, round__lte=last)
        wanted = Finding.objects.filter(near, run=self.run).order_by("order")[: 2 * FETCHED]
        self.rows += [finding for finding in wanted if finding.pk not in here]

    def count_in(self, gaps: Sequence[Span]) -> None:
        """Count all, and those of the gaps. One query, or none."""
        if self.all_here:
            return
        counts = Finding.objects.filter(run=self.run).aggregate(
            total=Count("pk"),
            **{
                f"gap{at}": Count("pk", filter=Q(round__gte=first, round__lte=last))
                for at, (first, last) in enumerate(gaps)
            },
        )
        self.total = counts["total"]
        self._gaps = {span: counts[f"gap{at}"] for at, span in enumerate(gaps)}

    def count(self, first: int, last: int) -> int:
        """How many findings rounds `first` to `last` have; a span of `count_in` where not all are
        here.
        """
        if (first, last) in self._gaps:
            return self._gaps[first, last]
        return sum(first <= finding.round <= last for finding in self.rows)

    def of_round(self, number: int) -> list[Finding]:
        return [finding for finding in self.rows if finding.round == number]

    def first_in(self, first: int, last: int, limit: int) -> list[Finding]:
        """The first finding of each of the first `limit` rounds with one, between two rounds."""
        found: dict[int, Finding] = {}
        for finding in self.rows:
            if first <= finding.round <= last:
                found.setdefault(finding.round, finding)
                if len(found) == limit:
                    break
        return list(found.values())

    def first_of_each(self) -> list[Finding]:
        """The first finding of each detector, in order of rounds."""
        return list(_first_by_detector(self.rows).values())


def finding_round_after(*, run: Run, number: int) -> int | None:
    """The first round after round `number` with a finding. One query."""
    found: int | None = run.findings.filter(round__gt=number).aggregate(at=Min("round"))["at"]
    return found


def finding_round_before(*, run: Run, number: int) -> int | None:
    """The last round before round `number` with a finding. One query."""
    found: int | None = run.findings.filter(round__lt=number).aggregate(at=Max("round"))["at"]
    return found


def _first_by_detector(findings: Iterable[Finding]) -> dict[str, Finding]:
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.detector, finding)
    return first
