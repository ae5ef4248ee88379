"""Incidents that no longer quote what tools said."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection
from django.db.models import Exists, OuterRef

from analysis.alerts.forgetting import incident_alerts_forget
from analysis.models import Fingerprint, Incident, IncidentRun

# What detectors cite stands between these marks: the same words as `analysis.words.without_quotes`
# leaves to whoever may not read transcripts.
WITHOUT_QUOTES = (
    "regexp_replace(regexp_replace({column}, '“[^”]*(”|$)', '“…”', 'g'),"
    " ': “…”(?=[.;,]|$)', '', 'g')"
)


def incidents_hush(*, pks: Collection[int]) -> None:
    """Take the words of transcripts out of those incidents that have no run left whose transcript
    is there and open to all who may read: of a restricted run nothing is cited to others.
    """
    readable = IncidentRun.objects.filter(
        incident=OuterRef("pk"), run__text_removed_at=None, run__restricted=False
    )
    found = Incident.objects.filter(pk__in=pks).exclude(Exists(readable))
    silent = list(found.values_list("pk", flat=True))
    if not silent:
        return
    incident_alerts_forget(incidents=silent, erased=False)
    Fingerprint.objects.filter(incident__in=silent).exclude(error="").update(error="")
    told = WITHOUT_QUOTES.format(column="title")
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE analysis_incident SET title = {told} WHERE id = ANY(%s) AND title <> {told}",
            (silent,),
        )
