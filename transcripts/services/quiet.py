"""Runs that nobody ended: over when nothing came for long, and open again when something does."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from transcripts.choices import Ending
from transcripts.models import Run
from transcripts.services.run_facts import derive_ending
from transcripts.services.totals import completeness_of


def run_close(*, run: Run, quiet_for: timedelta) -> bool:
    """End a run that has been quiet for so long, by what its last rounds say; False where it is
    over or was not quiet. Needs the run's lock (`run_locked`).
    """
    if run.ending != Ending.OPEN or run.updated_at > timezone.now() - quiet_for:
        return False
    run.over = run.quiet = True
    derive_ending(run=run, arrived=None)
    run.completeness = completeness_of(run=run, new=(), last_unanswered=0)
    run.save(update_fields=["over", "quiet", "ending", "completeness"])
    return True


def reopen(run: Run) -> None:
    """Let a run that was only quiet go on; the caller saves it."""
    run.quiet = run.over = False
    run.ending = Ending.OPEN
