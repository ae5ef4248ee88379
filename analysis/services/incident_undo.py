"""Takes back what people decided about incidents (`transcripts.undo`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from analysis.models import Incident, IncidentEvent, IncidentState, VersionKind
from analysis.services.incident_locks import incidents_locked
from analysis.services.incident_merging import fingerprints_move
from analysis.services.incident_states import EventKind
from analysis.services.incidents import kept, told
from transcripts.access import May, Reader
from transcripts.undo import UndoError, undoes

CHANGED = "incidents_changed"
MERGED = "incidents_merged"
SPLIT = "incident_split"
TIMES = frozenset({"state_at", "resolved_at", "ignored_until"})


@undoes(CHANGED, may=May.TRIAGE)
def change_take_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Set the values that were changed to what they were."""
    incidents_locked(project_id=reader.project.pk)
    rows = {row["pk"]: row for row in before["rows"]}
    incidents = list(Incident.objects.filter(project=reader.project, pk__in=rows).order_by("pk"))
    for incident in incidents:
        now = rows[incident.pk]["after"]
        if any(kept(name, getattr(incident, name)) != value for name, value in now.items()):
            raise UndoError(f"{incident.name} was changed again since.")
    for incident in incidents:
        values = rows[incident.pk]["before"]
        for name, value in values.items():
            setattr(incident, name, _column(name, value))
        incident.save(update_fields=[name.removesuffix("_id") for name in values])
    _tell(reader, incidents)
    return f"{_names(incidents)} as before."


@undoes(MERGED, may=May.TRIAGE)
def merge_take_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Give incidents that were merged their fingerprints and runs again."""
    incidents_locked(project_id=reader.project.pk)
    own = Incident.objects.filter(project=reader.project)
    into = own.get(pk=before["into"])
    again: list[Incident] = []
    for row in before["rows"]:
        incident = own.get(pk=row["pk"])
        if incident.merged_into_id != into.pk:
            raise UndoError(f"{incident.name} was merged into another since.")
        incident.merged_into = None
        incident.save(update_fields=["merged_into"])
        fingerprints_move(pks=row["fingerprints"], source=into, target=incident)
        again.append(incident)
    _tell(reader, [into, *again])
    return f"{_names(again)} again by itself."


@undoes(SPLIT, may=May.TRIAGE)
def split_take_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Bring fingerprints back to where they were split off."""
    incidents_locked(project_id=reader.project.pk)
    own = Incident.objects.filter(project=reader.project)
    source, new = own.get(pk=before["source"]), own.get(pk=before["new"])
    if new.merged_into_id is not None or source.merged_into_id is not None:
        raise UndoError("One of the two was merged since.")
    if set(new.fingerprints.values_list("pk", flat=True)) != set(before["fingerprints"]):
        raise UndoError(f"{new.name} has other fingerprints since.")
    fingerprints_move(pks=before["fingerprints"], source=new, target=source)
    new.merged_into = source
    new.save(update_fields=["merged_into"])
    _tell(reader, [source])
    return f"{source.name} is one again."


def _tell(reader: Reader, incidents: list[Incident]) -> None:
    IncidentEvent.objects.bulk_create(
        told(incident, EventKind.UNDONE, {}, reader.user) for incident in incidents
    )


def _names(incidents: list[Incident]) -> str:
    if len(incidents) == 1:
        return f"{incidents[0].name} is"
    return f"{len(incidents)} incidents are"


def _column(name: str, value: Any) -> Any:
    if name in TIMES and value is not None:
        return datetime.fromtimestamp(value / 1_000_000, UTC)
    if name == "state":
        return IncidentState(value)
    if name == "resolved_kind" and value:
        return VersionKind(value)
    return value
