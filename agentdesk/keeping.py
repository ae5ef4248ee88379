"""Removes runs and transcripts, with what both apps know of them, in steps."""

from __future__ import annotations

import math
import time
from functools import partial

from analysis.alerts.forgetting import run_alerts_forget, tool_alerts_forget
from analysis.services import keeping
from analysis.services.cases import cases_erase
from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.models import Project, RetentionRule
from transcripts.services import removal
from transcripts.services.retention import project_mark

# What hangs on a run, in the order in which it goes: what is thought of it first.
HANGING = (*keeping.HANGING, *removal.HANGING)
HALF_AT_ONCE = 100


def run_empty(pk: int, *, end: float = math.inf) -> bool:
    """Remove what is left to remove of a marked run, and what incidents and cases tell of it alone,
    until `end` (of `time.monotonic`); returns whether nothing is left. Safe to run twice.
    """
    incidents = keeping.incidents_of(run_pk=pk)
    erased = removal.is_erased(pk=pk)
    if erased:
        cases_erase(run_pk=pk)
        tool_alerts_forget(run_pk=pk)
    done = removal.run_empty(pk=pk, tables=HANGING, end=end)
    if done:
        run_alerts_forget(run_pk=pk, erased=erased)
        keeping.incidents_forget(pks=incidents, erased=erased)
    return done


def runs_empty(*, end: float) -> bool:
    """Go on with all marked runs; returns whether nothing is left of them."""
    while pks := removal.runs_half_removed(limit=HALF_AT_ONCE):
        if not all(run_empty(pk, end=end) for pk in pks):
            return False
    return True


def project_retain(*, project_pk: int, seconds: float) -> bool:
    """Remove what is past its days in a project, for so long; returns whether there may be more.
    Leaves an audit line. Safe to run twice.
    """
    end = time.monotonic() + seconds
    project = Project.objects.filter(pk=project_pk).first()
    if project is None:
        return False
    if not runs_empty(end=end):
        return True
    empty = partial(run_empty, end=end)
    gone = project_mark(project=project, held=keeping.HELD, end=end, empty=empty)
    if any(gone.values()):
        access_record(project=project, action=AccessAction.RETENTION, detail=dict(gone))
    return time.monotonic() >= end


def projects_with_rules() -> list[int]:
    """The projects in which something has its days."""
    found = RetentionRule.objects.order_by("project").values_list("project", flat=True)
    return list(found.distinct())
