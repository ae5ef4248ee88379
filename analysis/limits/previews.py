"""What other limits would say of past runs, before they are saved."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from analysis.detectors.reading.prices import cost_of
from analysis.limits.learning import baseline_for
from analysis.limits.sets import (
    LimitBook,
    Scope,
    Values,
    baseline_of,
    clean_values,
    limit_book,
    masked_scope,
)
from analysis.models import Job, LearnedBaseline
from analysis.suite import Analysis, analyse
from transcripts.choices import Ending
from transcripts.models import Project, Run
from transcripts.record import RunRecord
from transcripts.selectors.record import run_record

# A preview reads the latest runs: enough to see what a limit does, in seconds.
MOST_RUNS = 500
RUNS_PER_STEP = 25
STEP_SECONDS = 0.4
# Runs that a preview names; the others are counted.
NAMED = 100
COUNT_UP_TO = 10_000


def runs_of(project: Project, scope: Scope) -> QuerySet[Run]:
    """The past runs that limits of that scope are for."""
    runs = Run.objects.filter(project=project, text_removed_at=None).exclude(ending=Ending.OPEN)
    return runs.filter(agent=scope.agent) if scope.agent else runs


def preview_wanted(
    *, project: Project, scope: Scope, values: Mapping[str, Any]
) -> tuple[dict[str, Any], int]:
    """What a preview has to know, and how many runs it will read. Raises LimitsError."""
    scope = masked_scope(project, scope)
    of = runs_of(project, scope).values("pk")[: COUNT_UP_TO + 1].count()
    wanted = {
        "agent": scope.agent,
        "tool": scope.tool,
        "values": clean_values(scope, values),
        "runs": of,
    }
    return wanted, min(of, MOST_RUNS)


def preview_step(job: Job) -> bool:
    """Read the next runs under the limits of now and under the wanted ones; True at the end.

    Both are read anew, so that nothing but the limits makes the difference. Latest first.
    """
    scope = Scope(job.wanted["agent"], job.wanted["tool"])
    book = limit_book(project_id=job.project_id)
    reader = _Reader(job.project, book, book.with_set(scope, job.wanted["values"]))
    runs = runs_of(job.project, scope).order_by("-pk")
    if job.cursor is not None:
        runs = runs.filter(pk__lt=job.cursor)
    left = max(0, min(RUNS_PER_STEP, job.total - job.read))
    end = time.monotonic() + STEP_SECONDS
    took = list(runs[:left])
    for run in took:
        _compare(job, run, *reader.read(run))
        job.cursor = run.pk
        job.read += 1
        if time.monotonic() >= end:
            break
    if took and job.read < job.total:
        return False
    job.total = job.read
    return True


class _Reader:
    """Reads runs under two books; what was learned is fetched once for each agent."""

    def __init__(self, project: Project, now: LimitBook, then: LimitBook) -> None:
        self.project = project
        self.books = (now, then)
        self._learned: dict[str, LearnedBaseline | None] = {}

    def read(self, run: Run) -> tuple[Analysis, Analysis]:
        record = run_record(run=run).record
        now, then = (self._analysis(book, str(run.agent), record) for book in self.books)
        return now, then

    def _analysis(self, book: LimitBook, agent: str, record: RunRecord) -> Analysis:
        if agent not in self._learned:
            self._learned[agent] = baseline_for(project_id=self.project.pk, agent=agent)
        cost = cost_of(record)
        baseline = baseline_of(self._learned[agent], currency=cost.currency if cost else "")
        return analyse(record, book.applied(agent, baseline).limits)


def _compare(job: Job, run: Run, now: Analysis, then: Analysis) -> None:
    result = job.result
    result["now"] = result.get("now", 0) + now.verdict.flagged
    result["then"] = result.get("then", 0) + then.verdict.flagged
    found = [{(f.detector, f.round, f.call) for f in each.findings} for each in (now, then)]
    kinds = (now.verdict.kind.value, then.verdict.kind.value)
    if found[0] == found[1] and kinds[0] == kinds[1]:
        return
    job.changed += 1
    names = [{name for name, *_ in each} for each in found]
    changes: list[Values] = result.setdefault("changes", [])
    flips = now.verdict.flagged != then.verdict.flagged
    if len(changes) >= NAMED:
        # Runs that come into the list or go out of it are named before those that stay.
        stays = next((at for at, each in enumerate(changes) if not each["flips"]), None)
        if not flips or stays is None:
            return
        del changes[stays]
    changes.append(
        {
            "run": run.pk,
            "flips": flips,
            "flagged": then.verdict.flagged,
            "kinds": kinds,
            "gained": sorted(names[1] - names[0]),
            "lost": sorted(names[0] - names[1]),
            "moved": sorted({name for name, *_ in found[0] ^ found[1]} & names[0] & names[1]),
        }
    )
