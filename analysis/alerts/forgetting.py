"""Alerts that have quoted a transcript which is gone, or is not for everybody any more."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from analysis.models import AlertMessage, IncidentEvent

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
