"""Runs with one fault each, for tests of incidents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from analysis.models import Incident
from analysis.services.verdicts import run_analyse
from tests.builders import a_run, call
from transcripts.endings import with_ending
from transcripts.models import Project, Run
from transcripts.record import RunRecord
from transcripts.services import run_store

DENIED = "permission denied for user {}"


def a_failing_record(
    run_id: str, *, error: str = "", tool: str = "get_right", **fields: Any
) -> RunRecord:
    """A short run whose one call fails; the error names the run, so that no two say the same."""
    said = error or DENIED.format(1000 + len(run_id))
    asked = call(tool, {"id": run_id}, said, is_error=True)
    return a_run([call()], [asked], "Done.", run_id=run_id, **{"agent": "helpdesk", **fields})


def a_failing_run(
    project: Project, run_id: str, *, at: datetime | None = None, **fields: Any
) -> Run:
    """The same, stored and grouped; `at` is when it came in."""
    return grouped(project, a_failing_record(run_id, **fields), at=at)


def grouped(
    project: Project, record: RunRecord, *, at: datetime | None = None, live: bool = False
) -> Run:
    """A run that was stored and analysed, and so is in its incidents."""
    with transaction.atomic():
        stored = run_store(project=project, fragment=with_ending(record, live=live), live=live)
        if at is not None:
            stored.run.received_at = at
            stored.run.save(update_fields=["received_at"])
        run_analyse(run=stored.run)
    return stored.run


def the_incident(project: Project) -> Incident:
    """The only one there is."""
    return Incident.objects.get(project=project)
