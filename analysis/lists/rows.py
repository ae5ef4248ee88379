"""The rows of the run list: what happened to whom, and whose it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analysis.lists.searching import Search
from analysis.models import IncidentRun, RunTriage
from analysis.pages.strip_drawing import strip_paths
from analysis.words import verdict_label
from transcripts.access import Reader
from transcripts.models import Run

# Labels of one run that a row shows.
LABELS = 4


def rows_of(*, runs: Sequence[Run], reader: Reader, search: Search | None) -> list[dict[str, Any]]:
    """The runs of a page as its rows: two queries, and those of the search's lines."""
    pks = [run.pk for run in runs]
    triages = {
        triage.run_id: triage
        for triage in RunTriage.objects.filter(run__in=pks).select_related("owner")
    }
    incidents: dict[int, IncidentRun] = {}
    seen = IncidentRun.objects.filter(run__in=pks).select_related("incident")
    for each in seen.order_by("run", "-main", "round", "pk"):
        incidents.setdefault(each.run_id, each)
    lines = search.lines(runs) if search else {}
    return [
        {
            **_row(run, reader),
            "owner": triages[run.pk].owner if run.pk in triages else None,
            "labels": _labels(run, triages.get(run.pk)),
            "incident": incidents[run.pk].incident if run.pk in incidents else None,
            "line": lines.get(run.pk),
        }
        for run in runs
    ]


def _row(run: Run, reader: Reader) -> dict[str, Any]:
    verdict = getattr(run, "verdict", None)
    label, tone = verdict_label(verdict.kind if verdict else None)
    may_read = reader.may_read(run)
    priced = verdict if verdict and verdict.cost is not None else None
    return {
        "run": run,
        "verdict": verdict,
        "label": label,
        "tone": tone,
        "may_read": may_read,
        "title": run.title if may_read else "",
        "strip": strip_paths(verdict.strip) if verdict else None,
        "cost": priced.cost if priced else run.cost,
        "currency": priced.cost_currency if priced else run.currency,
        "computed": bool(priced and priced.cost_computed),
        "tokens": (run.tokens_in or 0) + (run.tokens_out or 0) or None,
        "wasted": verdict.wasted_rounds if verdict else 0,
    }


def _labels(run: Run, triage: RunTriage | None) -> list[str]:
    pairs = [*(triage.labels if triage else []), *run.labels]
    return [name if value == "yes" else f"{name}={value}" for name, value in pairs][:LABELS]
