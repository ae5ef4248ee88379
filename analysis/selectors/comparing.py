"""Which runs are worth comparing with a run."""

from __future__ import annotations

from django.db.models import QuerySet

from transcripts.access import Reader
from transcripts.choices import Removal
from transcripts.models import Run

SHOWN = 8


def runs_to_compare(*, run: Run, reader: Reader) -> list[tuple[str, list[Run]]]:
    """Runs of the same ticket, and the latest of the same agent that went well; with the words that
    say why. Two queries.
    """
    there = Run.objects.filter(project=reader.project).exclude(removal=Removal.RUN)
    others = there.exclude(pk=run.pk)
    if not reader.restricted:
        others = others.filter(restricted=False)
    others = others.select_related("verdict")
    found = []
    well = others.filter(agent=run.agent, verdict__flagged=False, ending="finished")
    if run.ticket_id:
        well = well.exclude(ticket_id=run.ticket_id)
        found.append(("Of the same ticket", _latest(others.filter(ticket_id=run.ticket_id))))
    found.append(("Of the same agent, that went well", _latest(well)))
    return [(words, rows) for words, rows in found if rows]


def _latest(runs: QuerySet[Run]) -> list[Run]:
    return list(runs.order_by("-received_at", "-pk")[:SHOWN])
