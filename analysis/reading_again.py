"""Reads past runs again, under the limits and by the detectors of now."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q

from analysis.limits.sets import LimitBook, limit_book
from analysis.models import Job, Verdict
from analysis.services.verdicts import run_analyse
from analysis.suite import suite_version
from transcripts.models import Project
from transcripts.services.runs import run_locked

logger = logging.getLogger(__name__)

# Runs of one step, and the time after which it ends early.
RUNS_PER_STEP = 50
STEP_SECONDS = 0.5
# Counting goes so far and then says "more than".
COUNT_UP_TO = 10_000


def outdated(project: Project, book: LimitBook) -> Q:
    """The verdicts that were made under other limits, or by other versions of detectors."""
    own = Q()
    for agent in book.agents:
        own |= Q(run__agent=agent, limits=book.applied(agent).digest)
    others = Q(limits=book.applied("").digest) & ~Q(run__agent__in=book.agents)
    there = Q(run__project=project, run__text_removed_at=None)
    return there & ~(Q(suite=suite_version()) & (own | others))


def outdated_count(*, project: Project, book: LimitBook) -> int:
    """How many of the project's verdicts are, up to COUNT_UP_TO + 1."""
    found = Verdict.objects.filter(outdated(project, book)).order_by()
    return found.values("pk")[: COUNT_UP_TO + 1].count()


def runs_to_read(*, project: Project, everything: bool) -> tuple[dict[str, Any], int]:
    """What a job has to know to read past runs again, and how many they are."""
    wanted = Q(run__project=project, run__text_removed_at=None)
    if not everything:
        wanted = outdated(project, limit_book(project_id=project.pk))
    found = Verdict.objects.filter(wanted).order_by("-pk")
    last = found.values_list("pk", flat=True).first()
    return {"everything": everything, "last": last or 0}, found.count()


def reading_step(job: Job) -> bool:
    """Read the next runs; True once all are read. Each run is locked, as by a delivery."""
    wanted = Q(
        run__project=job.project_id,
        run__text_removed_at=None,
        pk__gt=job.cursor or 0,
        pk__lte=job.wanted["last"],
    )
    if not job.wanted["everything"]:
        book = limit_book(project_id=job.project_id)
        wanted &= outdated(job.project, book)
    found = Verdict.objects.filter(wanted).order_by("pk")
    pks = list(found.values_list("pk", flat=True)[:RUNS_PER_STEP])
    end = time.monotonic() + STEP_SECONDS
    for pk in pks:
        _read_again(job, pk)
        job.cursor = pk
        job.read += 1
        if time.monotonic() >= end:
            return False
    if len(pks) == RUNS_PER_STEP:
        return False
    job.total = job.read
    return True


def _read_again(job: Job, pk: int) -> None:
    run = run_locked(pk=pk)
    before = Verdict.objects.filter(pk=pk).first() if run else None
    if run is None or before is None or run.text_removed_at is not None:
        return
    try:
        with transaction.atomic():
            after = run_analyse(run=run)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        # One run must not hold up the others. A message may quote it, so the type alone is told.
        logger.error("run %s could not be read again: %s", pk, type(error).__name__)
        _count(job, "failed")
        return
    _count(job, "flagged_before", before.flagged)
    _count(job, "flagged_after", after.flagged)
    job.changed += (before.flagged, before.kind, before.odd_round) != (
        after.flagged,
        after.kind,
        after.odd_round,
    )


def _count(job: Job, name: str, how_many: int = 1) -> None:
    job.result[name] = job.result.get(name, 0) + how_many
