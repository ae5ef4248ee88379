"""Reads of what we think of a run. Lists of runs: `analysis.lists`."""

from __future__ import annotations

from analysis.models import Finding
from transcripts.models import Run


def finding_list(*, run: Run) -> list[Finding]:
    """The run's findings in order of rounds, calls and detectors."""
    return list(Finding.objects.filter(run=run).order_by("order"))
