"""Whose runs are, and the labels that people put on them; for one run or for many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction

from analysis.models import RunTriage
from transcripts.access import May, Reader
from transcripts.masking.types import MaskedText
from transcripts.models import Membership, Project, Run, User
from transcripts.undo import UndoError, undoes

OWNED, LABELLED = "runs_owned", "runs_labelled"
Label = tuple[MaskedText, MaskedText]

_OWN = """
INSERT INTO analysis_runtriage (run_id, owner_id, labels)
SELECT id, %s, '[]' FROM transcripts_run WHERE project_id = %s AND id = ANY(%s)
ON CONFLICT (run_id) DO UPDATE SET owner_id = EXCLUDED.owner_id
WHERE analysis_runtriage.owner_id IS DISTINCT FROM EXCLUDED.owner_id
"""


@transaction.atomic
def runs_assign(*, project: Project, pks: Sequence[int], owner: User | None) -> dict[str, Any]:
    """Give runs an owner, or none; returns what `transcripts.undo` needs. The owner is a member."""
    if owner is not None and not Membership.objects.filter(project=project, user=owner).exists():
        raise ValueError("The owner is no member of the project.")
    there = RunTriage.objects.select_for_update().filter(run__project=project, run__in=pks)
    before = {triage.run_id: triage.owner_id for triage in there}
    new = owner.pk if owner else None
    with connection.cursor() as cursor:
        cursor.execute(_OWN, (new, project.pk, list(pks)))
    return {"owner": new, "before": [[pk, before.get(pk)] for pk in pks if before.get(pk) != new]}


@transaction.atomic
def runs_label(*, project: Project, pks: Sequence[int], label: Label, put: bool) -> dict[str, Any]:
    """Put a label on runs, or take it off; returns what `transcripts.undo` needs. A run has one
    value of a label: another one that it had is `replaced`, by run.
    """
    name, value = label
    there = {
        triage.run_id: triage
        for triage in RunTriage.objects.select_for_update().filter(
            run__project=project, run__in=pks
        )
    }
    changed: list[int] = []
    replaced: dict[str, list[Any]] = {}
    new: list[RunTriage] = []
    for pk in Run.objects.filter(project=project, pk__in=pks).values_list("pk", flat=True):
        triage = there.get(pk) or RunTriage(run_id=pk, labels=[])
        has = [name, value] in triage.labels
        if has == put:
            continue
        others = [pair for pair in triage.labels if pair[0] == name and pair != [name, value]]
        rest = [pair for pair in triage.labels if pair[0] != name]
        if put and others:
            replaced[str(pk)] = others
        triage.labels = sorted([*rest, [name, value]] if put else [*rest, *others])
        changed.append(pk)
        if pk in there:
            triage.save(update_fields=["labels"])
        else:
            new.append(triage)
    RunTriage.objects.bulk_create(new)
    return {"label": [name, value], "put": put, "runs": changed, "replaced": replaced}


@undoes(OWNED, may=May.TRIAGE)
def _owned_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Give runs back to who had them."""
    wanted = {int(pk): owner for pk, owner in before["before"]}
    triages = RunTriage.objects.filter(run__project=reader.project, run__in=wanted)
    now = {triage.run_id: triage.owner_id for triage in triages}
    if any(now.get(pk) != before["owner"] for pk in wanted):
        raise UndoError("Some of these runs have another owner by now.")
    members = set(Membership.objects.filter(project=reader.project).values_list("user", flat=True))
    by_owner: dict[int | None, list[int]] = {}
    for pk, owner in wanted.items():
        by_owner.setdefault(owner if owner in members else None, []).append(pk)
    with connection.cursor() as cursor:
        for owner, pks in by_owner.items():
            cursor.execute(_OWN, (owner, reader.project.pk, pks))
    return f"{_runs(len(wanted))} given back."


@undoes(LABELLED, may=May.TRIAGE)
def _labelled_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Take a label off again, or put it back, and what it took the place of."""
    name, value = before["label"]
    triages = RunTriage.objects.select_for_update().filter(
        run__project=reader.project, run__in=before["runs"]
    )
    there = {triage.run_id: triage for triage in triages}
    replaced = before.get("replaced", {})
    # A run that was deleted since has no labels that somebody could have changed.
    for triage in there.values():
        now = [pair for pair in triage.labels if pair[0] == name]
        if now != ([[name, value]] if before["put"] else []):
            raise UndoError("Somebody has labelled some of these runs otherwise since.")
        rest = [pair for pair in triage.labels if pair[0] != name]
        old = replaced.get(str(triage.run_id), []) if before["put"] else [[name, value]]
        triage.labels = sorted([*rest, *old])
    RunTriage.objects.bulk_update(there.values(), ["labels"])
    return f"The labels of {_runs(len(there)).lower()} are as before."


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"
