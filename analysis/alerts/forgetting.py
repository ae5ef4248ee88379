"""Alerts that have quoted a transcript which is gone, or is not for everybody any more."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from analysis.models import AlertKind, AlertMessage, IncidentEvent, ToolUse
from transcripts.choices import Removal
from transcripts.models import Run

# As `analysis.words.without_quotes` does, in the database.
_HUSH = """
UPDATE analysis_alertmessage SET body = jsonb_set(body, '{words}', to_jsonb(regexp_replace(
    regexp_replace(body->>'words', '“[^”]*(”|$)', '“…”', 'g'), ': “…”(?=[.;,]|$)', '', 'g')))
WHERE subject = ANY(%s) AND body->>'words' LIKE '%%“%%'
"""


def run_alerts_forget(*, run_pk: int, erased: bool) -> None:
    """Of alerts about a run keep no words of its transcript; of an erased run keep none."""
    subject = f"run:{run_pk}"
    if erased:
        AlertMessage.objects.filter(subject=subject).delete()
    else:
        _hush([subject])


def runs_alerts_hush(*, run_pks: Collection[int]) -> None:
    """Of alerts that are about these runs keep no words of their transcripts: since they were
    written the runs were restricted, or masked anew.
    """
    _hush([f"run:{pk}" for pk in run_pks])


def tool_alerts_forget(*, run_pk: int) -> None:
    """Of a run that is being erased keep no alert about tools that no other run of its project
    names: a model makes names up, and this one is gone with the run.
    """
    project = Run.objects.filter(pk=run_pk).values_list("project", flat=True).first()
    named = list(ToolUse.objects.filter(run=run_pk).values_list("tool", flat=True))
    told = AlertMessage.objects.filter(
        project=project, kind=AlertKind.TOOL_ERRORS, body__tool__in=named
    )
    for pk, tool in list(told.values_list("pk", "body__tool")):
        others = ToolUse.objects.filter(tool=tool, run__project=project, run__removal=Removal.NONE)
        if not others.exclude(run=run_pk).exists():
            told.filter(pk=pk).delete()


def incident_alerts_forget(*, incidents: Collection[int], erased: bool) -> None:
    """The same of alerts about incidents; needs their events to be there."""
    events = IncidentEvent.objects.filter(incident__in=incidents).values_list("pk", flat=True)
    subjects = [f"event:{pk}" for pk in events]
    if erased:
        AlertMessage.objects.filter(subject__in=subjects).delete()
    elif subjects:
        _hush(subjects)


def _hush(subjects: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_HUSH, (subjects,))
