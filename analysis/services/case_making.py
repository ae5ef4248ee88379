"""A test case of a run that nobody edits: what its findings ask for must hold."""

from __future__ import annotations

from django.db import transaction

from analysis.cases.suggest import chosen, suggest
from analysis.models import TestCase
from analysis.selectors.cases import cases_of_run, incidents_of_run
from analysis.services.cases import case_make
from analysis.services.verdicts import applied_limits
from analysis.suite import analyse
from transcripts.models import Run
from transcripts.selectors.record import run_record


@transaction.atomic
def case_of_run(*, run: Run, again: bool = False) -> tuple[TestCase, bool]:
    """The latest case of a run, made where there is none (or `again`); returns it and whether it is
    new. Raises `CaseError` where the run cannot be replayed.
    """
    # Two requests at once make one case.
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    there = cases_of_run(run=run)
    if there and not again:
        return there[-1], False
    masked = run_record(run=run)
    record = masked.record
    findings = analyse(record, applied_limits(run=run, currency=record.currency).limits).findings
    incident = next(iter(incidents_of_run(run=run)), None)
    definition = {
        "title": record.title,
        "incident": incident.name if incident else "",
        "expect": chosen(suggest(record, findings)),
    }
    return case_make(run=run, masked=masked, definition=definition, incident=incident), True
