"""Taking on what was handed off, and being done with it; both can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.models import RunTriage
from transcripts.access import May, Reader
from transcripts.choices import Ending
from transcripts.models import Run, User
from transcripts.undo import UndoError, undoes

CHANGED = "hand_off_changed"


@transaction.atomic
def hand_off_take(*, run: Run, user: User) -> dict[str, Any] | None:
    """Take on a run; None where one has it already."""
    return _set(run, owner_id=user.pk)


@transaction.atomic
def hand_off_done(*, run: Run, user: User, done: bool = True) -> dict[str, Any] | None:
    """Say that a run is dealt with, or that it is not; None where that is known."""
    if not done:
        return _set(run, done_at=None, done_by_id=None)
    triage = RunTriage.objects.filter(run=run).first()
    if triage is not None and triage.done_at is not None:
        return None
    owner = triage.owner_id if triage and triage.owner_id else user.pk
    return _set(run, done_at=timezone.now(), done_by_id=user.pk, owner_id=owner)


def _set(run: Run, **values: Any) -> dict[str, Any] | None:
    RunTriage.objects.get_or_create(run=run)
    triage = RunTriage.objects.select_for_update().get(run=run)
    before = {name: _kept(getattr(triage, name)) for name in values}
    if before == {name: _kept(value) for name, value in values.items()}:
        return None
    for name, value in values.items():
        setattr(triage, name, value)
    triage.save(update_fields=[name.removesuffix("_id") for name in values])
    after = {name: _kept(value) for name, value in values.items()}
    return {"run": run.pk, "before": before, "after": after}


@undoes(CHANGED, may=May.TRIAGE)
def hand_off_take_back(reader: Reader, before: Mapping[str, Any]) -> str:
    """Set what was changed to what it was."""
    triages = RunTriage.objects.select_for_update().filter(
        run__project=reader.project, run__ending=Ending.HANDED_OFF, run=before["run"]
    )
    triage = triages.first()
    if triage is None:
        raise UndoError("The run is gone.")
    if any(_kept(getattr(triage, name)) != value for name, value in before["after"].items()):
        raise UndoError("Somebody has changed it again since.")
    for name, value in before["before"].items():
        if name == "done_at" and value is not None:
            value = datetime.fromtimestamp(value / 1_000_000, UTC)
        setattr(triage, name, value)
    triage.save(update_fields=[name.removesuffix("_id") for name in before["before"]])
    return "It is in the queue as before."


def _kept(value: Any) -> Any:
    return round(value.timestamp() * 1_000_000) if isinstance(value, datetime) else value
