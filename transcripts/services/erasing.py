"""Erases runs for good: the right to erasure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest

from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.models import Run, User
from transcripts.queueing import RUN_EMPTY, enqueue
from transcripts.services.removal import run_erase


@transaction.atomic
def runs_erase(
    *, runs: Iterable[Run], held: Q, user: User | None = None, request: HttpRequest | None = None
) -> int:
    """Erase runs, all or none; returns how many were there. Each leaves a line in the audit log,
    without anything that was in it. Their rows go as soon as a worker gets to it.

    `held`: which runs are on hold besides those with one of their own. Raises `HeldError`.
    """
    erased = 0
    for run in runs:
        if not run_erase(pk=run.pk, held=held):
            continue
        erased += 1
        access_record(
            project=run.project,
            action=AccessAction.DELETE,
            run=run,
            user=user,
            request=request,
            detail={"rounds": run.round_count, "calls": run.call_count},
        )
        transaction.on_commit(partial(enqueue, RUN_EMPTY, run.pk))
    return erased
