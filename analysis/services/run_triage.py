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
    old: list[RunTriage] = []
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
        (old if pk in there else new).append(triage)
    RunTriage.objects.bulk_update(old, ["labels"])
    RunTriage.objects.bulk_create(new)
    return {"label": [name, value], "put": put, "runs": changed, "replaced": replaced}


@transaction.atomic
def owners_return(*, project: Project, before: Mapping[int, int | None], after: int | None) -> int:
    """Give runs back to who had them, where they still have the owner `after`; to nobody, where
    that person is no member any more. Returns how many.
    """
    triages = RunTriage.objects.select_for_update().filter(run__project=project, run__in=before)
    members = set(Membership.objects.filter(project=project).values_list("user", flat=True))
    back = [triage for triage in triages if triage.owner_id == after]
    for triage in back:
        owner = before[triage.run_id]
        triage.owner_id = owner if owner in members else None
    RunTriage.objects.bulk_update(back, ["owner"])
    return len(back)


@transaction.atomic
def labels_return(
    *, project: Project, before: Mapping[int, Sequence[Any]], label: Label, put: bool
) -> int:
    """Give runs the pairs of a label's name that they had, where they still have it as it was
    `put` or taken off. Returns how many.
    """
    name, value = label
    after = [[name, value]] if put else []
    triages = RunTriage.objects.select_for_update().filter(run__project=project, run__in=before)
    back = []
    for triage in triages:
        if [pair for pair in triage.labels if pair[0] == name] != after:
            continue
        rest = [pair for pair in triage.labels if pair[0] != name]
        triage.labels = sorted([*rest, *before[triage.run_id]])
        back.append(triage)
    RunTriage.objects.bulk_update(back, ["labels"])
    return len(back)


@undoes(OWNED, may=May.TRIAGE)
def _owned_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Give runs back to who had them, all or none."""
    before = {int(pk): owner for pk, owner in noted["before"]}
    there = Run.objects.filter(project=reader.project, pk__in=before).count()
    back = owners_return(project=reader.project, before=before, after=noted["owner"])
    if back < there:
        raise UndoError("Some of these runs have another owner by now.")
    return f"{_runs(back)} given back."


@undoes(LABELLED, may=May.TRIAGE)
def _labelled_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Take a label off again, or put it back, and what it took the place of; all or none."""
    name, value = noted["label"]
    before = labels_before(noted)
    there = Run.objects.filter(project=reader.project, pk__in=before).count()
    back = labels_return(
        project=reader.project, before=before, label=(name, value), put=noted["put"]
    )
    if back < there:
        raise UndoError("Somebody has labelled some of these runs otherwise since.")
    return f"The labels of {_runs(back).lower()} are as before."


def labels_before(told: Mapping[str, Any]) -> dict[int, list[Any]]:
    """Of what `runs_label` returned, the pairs of the label's name that each run had."""
    if not told["put"]:
        return {pk: [told["label"]] for pk in told["runs"]}
    return {pk: told["replaced"].get(str(pk), []) for pk in told["runs"]}


def _runs(count: int) -> str:
    return f"{count:,} run{'' if count == 1 else 's'}"
