"""What stays of an analysis when its run's transcript is removed, and runs kept for incidents."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from analysis.alerts.forgetting import incident_alerts_forget
from analysis.models import (
    Annotation,
    Finding,
    Incident,
    IncidentRun,
    JobNote,
    RunTriage,
    TestCase,
    ToolUse,
    Verdict,
)
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_merging import incidents_count_again
from analysis.services.incident_quotes import WITHOUT_QUOTES, incidents_hush
from transcripts.services.removal import Hanging

_HANDED_OFF = (
    "CASE WHEN jsonb_exists(\"values\", 'handed_off')"
    " THEN jsonb_build_object('handed_off', \"values\"->'handed_off')"
    " ELSE '{}'::jsonb END"
)


def _without_quotes(*columns: str) -> dict[str, str]:
    return {column: WITHOUT_QUOTES.format(column=column) for column in columns}


# Stays: which branch of the chart, which detector, in which round, how severe; and what is said of
# it without the words of the transcript.
HANGING: tuple[Hanging, ...] = (
    Hanging(Verdict, "run_id", _without_quotes("sentence", "odd_why")),
    Hanging(
        Finding,
        "order",
        {**_without_quotes("why", "cause", "fix"), "values": _HANDED_OFF},
    ),
    Hanging(IncidentRun, "id", kept="in which round an incident was seen, and when"),
    Hanging(TestCase, "id", kept="what was made a test is kept on purpose", with_run=True),
    # A call that was tried by hand quotes what the tool answered; all else is a person's own words.
    Hanging(
        Annotation,
        "id",
        {"text": "CASE WHEN kind = 'tried' THEN '' ELSE text END"},
        with_run=True,
    ),
    Hanging(ToolUse, "id", kept="how often each tool was called and failed: figures"),
    Hanging(RunTriage, "run_id", kept="what people decided about the run: owner, labels, done"),
    Hanging(JobNote, "id", kept="the same, as it was before a job changed it, for a day"),
)
# Runs that are kept besides those with a hold of their own: those of incidents on hold, also the
# ones that join later.
HELD = Q(Exists(IncidentRun.objects.filter(run=OuterRef("pk"), incident__held=True)))


def incidents_of(*, run_pk: int) -> list[int]:
    """The incidents in which a run was seen."""
    found = IncidentRun.objects.filter(run=run_pk).order_by().distinct()
    return list(found.values_list("incident", flat=True))


def incidents_forget(*, pks: Collection[int], erased: bool) -> None:
    """Take the words of transcripts out of those incidents of which none is left; where the last
    run was erased, the incident goes with it, and the others are counted again. (What goes with its
    days is counted by the beat, once for all of it.)
    """
    runs = IncidentRun.objects.filter(incident=OuterRef("pk"))
    found = Incident.objects.filter(pk__in=pks)
    if erased:
        gone = list(found.exclude(Exists(runs)).values_list("pk", flat=True))
        incident_alerts_forget(incidents=gone, erased=True)
        Incident.objects.filter(pk__in=gone).delete()
        _count_again(pks)
    incidents_hush(pks=pks)


def _count_again(pks: Collection[int]) -> None:
    """Count the runs of incidents, which are of one project."""
    left = Incident.objects.filter(pk__in=pks).order_by("pk")
    project_id = left.values_list("project", flat=True).first()
    if project_id is None:
        return
    with transaction.atomic():
        incidents_locked(project_id=project_id)
        incidents_count_again(pks=list(pks))
