"""Runs in progress, with the round that they are at."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from analysis.models import Finding
from transcripts.access import Reader
from transcripts.choices import Ending
from transcripts.models import Run, ToolCall

SHOWN = 60


@dataclass
class LiveRun:
    """A run that goes on. `asked` are the tools of its latest round; `warning` is the latest thing
    that the detectors found odd, None where there is none.
    """

    run: Run
    asked: list[str]
    warning: Finding | None = None


def live_runs(*, reader: Reader) -> tuple[list[LiveRun], int]:
    """Runs in progress, those heard of last first, and how many there are. Four queries."""
    runs: QuerySet[Run] = Run.objects.filter(project=reader.project, ending=Ending.OPEN)
    count = runs.count()
    shown = list(runs.select_related("verdict").order_by("-updated_at", "-pk")[:SHOWN])
    asked: dict[int, list[str]] = {}
    last = {run.pk: run.last_round for run in shown}
    calls = ToolCall.objects.filter(run__in=last, round_number__in=set(last.values()))
    for run_pk, number, name in calls.order_by("run", "round_number", "index").values_list(
        "run_id", "round_number", "name"
    ):
        if last[run_pk] == number:
            asked.setdefault(run_pk, []).append(name)
    warnings = {
        finding.run_id: finding
        for finding in Finding.objects.filter(run__in=last, odd=True).order_by("run", "order")
    }
    return [LiveRun(run, asked.get(run.pk, [])[:4], warnings.get(run.pk)) for run in shown], count
