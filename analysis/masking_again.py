"""Masking and past runs: what other choices would mask in them, and masking them again."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet

from analysis.alerts.forgetting import runs_alerts_hush
from analysis.models import Job
from analysis.services.case_masking import cases_mask_again
from analysis.services.verdicts import run_analyse
from transcripts.maskers import project_key, run_masker
from transcripts.masking import MaskingError, Options, RunKey, own_rule
from transcripts.masking.errors import OutOfTimeError
from transcripts.masking.finding import chosen_hits
from transcripts.masking.views import canonical
from transcripts.masking_choices import project_choices, project_rule_set
from transcripts.models import Project, Run
from transcripts.services.masked_rows import run_mask_again, run_texts
from transcripts.services.runs import run_locked

logger = logging.getLogger(__name__)

RUNS_PER_STEP = 50
STEP_SECONDS = 0.5
COUNT_UP_TO = 10_000
# Runs that a trial names; the others are counted.
NAMED = 50


def older_runs(project: Project) -> QuerySet[Run]:
    """The project's runs of which not all was masked by the rule set of now."""
    return Run.objects.filter(project=project).exclude(mask_rule_set=project_rule_set(project))


def older_count(project: Project) -> int:
    """How many they are, up to COUNT_UP_TO + 1."""
    return older_runs(project).order_by().values("pk")[: COUNT_UP_TO + 1].count()


def runs_to_mask(*, project: Project, everything: bool) -> tuple[dict[str, Any], int]:
    """What a job has to know to mask past runs again, and how many they are."""
    wanted = Run.objects.filter(project=project) if everything else older_runs(project)
    last = wanted.order_by("-pk").values_list("pk", flat=True).first()
    return {"everything": everything, "last": last or 0}, wanted.count()


def masking_step(job: Job) -> bool:
    """Mask the next runs again; True once all are done. Each run is locked, as by a delivery."""
    runs = Run.objects.filter(project=job.project)
    if not job.wanted["everything"]:
        runs = older_runs(job.project)
    pks = list(
        runs.filter(pk__gt=job.cursor or 0, pk__lte=job.wanted["last"])
        .order_by("pk")
        .values_list("pk", flat=True)[:RUNS_PER_STEP]
    )
    end = time.monotonic() + STEP_SECONDS
    for pk in pks:
        _mask_again(job, pk)
        job.cursor = pk
        job.read += 1
        if time.monotonic() >= end:
            return False
    if len(pks) == RUNS_PER_STEP:
        return False
    job.total = job.read
    _mask_cases(job)
    return True


def _mask_cases(job: Job) -> None:
    """Cases hold what runs hold, and outlive them; they come last."""
    try:
        job.result["cases"] = cases_mask_again(project=job.project)
    except MaskingError as error:
        logger.error("test cases could not be masked again: %s", type(error).__name__)
        _count(job, "failed", 1)


def _mask_again(job: Job, pk: int) -> None:
    run = run_locked(pk=pk)
    if run is None:
        return
    try:
        with transaction.atomic():
            texts = run_mask_again(run=run, masker=run_masker(job.project, run))
            if texts:
                run_analyse(run=run)
                runs_alerts_hush(run_pks=[run.pk])
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        # One run must not hold up the others. A message may quote it, so the type alone is told.
        logger.error("run %s could not be masked again: %s", pk, type(error).__name__)
        _count(job, "failed", 1)
        return
    job.changed += bool(texts)
    _count(job, "texts", texts)


def trial_of_rule(*, name: str, pattern: str, family: str) -> dict[str, Any]:
    """What a trial has to know of a rule. The pattern has been checked."""
    return {"rule": {"name": name, "pattern": pattern, "family": family}}


def trial_of_choices(
    *, project: Project, kinds: Mapping[str, bool], names: Iterable[str]
) -> dict[str, Any]:
    """What a trial has to know of choices: what they mask that is not masked now."""
    now = project_choices(project).options
    return {
        "kinds": [kind for kind, on in kinds.items() if on and not getattr(now, kind)],
        "names": sorted(set(names) - now.names),
    }


def trial_step(job: Job) -> bool:
    """Look for what the choices would mask in the next runs; True at the end. Latest first."""
    options = _options_of(job.wanted)
    key = project_key(job.project)
    allowed = project_choices(job.project).allowed
    runs = Run.objects.filter(project=job.project).order_by("-pk")
    if job.cursor is not None:
        runs = runs.filter(pk__lt=job.cursor)
    pks = list(runs[:RUNS_PER_STEP])
    end = time.monotonic() + STEP_SECONDS
    for run in pks:
        _try(job, run, options, key, allowed)
        job.cursor = run.pk
        job.read += 1
        if time.monotonic() >= end:
            return False
    return len(pks) < RUNS_PER_STEP


def _try(job: Job, run: Run, options: Options, key: RunKey, allowed: frozenset[str]) -> None:
    values: set[str] = set()
    places = 0
    for text, _ in run_texts(run):
        try:
            hits = chosen_hits(text, options)
        except OutOfTimeError:
            _count(job, "unscanned", 1)
            continue
        found = [canonical(text[hit.start : hit.end]) for hit in hits]
        found = [value for value in found if key.allowed_digest(value) not in allowed]
        places += len(found)
        values.update(found)
    if not values:
        return
    job.changed += 1
    _count(job, "values", len(values))
    _count(job, "places", places)
    named = job.result.setdefault("runs", [])
    if len(named) < NAMED:
        # The values themselves are kept nowhere: they may be secrets.
        named.append({"run": run.pk, "values": len(values), "places": places})


def _options_of(wanted: Mapping[str, Any]) -> Options:
    rule = wanted.get("rule")
    kinds = wanted.get("kinds", ())
    return Options(
        card="card" in kinds,
        iban="iban" in kinds,
        email="email" in kinds,
        phone="phone" in kinds,
        names=frozenset(wanted.get("names", ())),
        rules=(own_rule(rule["name"], rule["pattern"], rule["family"]),) if rule else (),
    )


def _count(job: Job, name: str, how_many: int) -> None:
    job.result[name] = job.result.get(name, 0) + how_many
