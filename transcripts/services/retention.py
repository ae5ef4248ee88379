"""How long runs are kept: the rules, the holds, and what is past its days."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from transcripts.choices import DeliveryState
from transcripts.masking.types import MaskedText
from transcripts.models import Delivery, Project, RetentionRule, Run, RunHold, User
from transcripts.selectors.retention import Kept, Rule, retention_rules, runs_due
from transcripts.services.removal import BY_RETENTION, run_mark, transcript_mark

MOST_DAYS = 36_500
MOST_RULES = 50
RUNS_AT_ONCE = 50
DELIVERIES_AT_ONCE = 1_000


class RetentionError(ValueError):
    """Rules that cannot be; the message says why."""


def rules_check(*, rules: Sequence[Rule]) -> None:
    """Raise `RetentionError` for rules that cannot be saved."""
    if len(rules) > MOST_RULES:
        raise RetentionError(f"There can be {MOST_RULES} rules at most.")
    labels = [(rule.name, rule.value) for rule in rules]
    if len(set(labels)) < len(labels):
        raise RetentionError("Two rules are for the same label.")
    for rule in rules:
        for days in (rule.text_days, rule.metadata_days):
            if days is not None and not 1 <= days <= MOST_DAYS:
                raise RetentionError(f"Days are a number from 1 to {MOST_DAYS:,}.")
        if rule.text_days and rule.metadata_days and rule.text_days > rule.metadata_days:
            raise RetentionError(
                "A transcript cannot be kept longer than its run: the days of the text must not be "
                "more than those of all of it."
            )


@transaction.atomic
def rules_set(*, project: Project, rules: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Put rules in the place of the project's; returns those before and those after. Names and
    values of labels must be masked text. Raises `RetentionError`.
    """
    rules_check(rules=rules)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    before = retention_rules(project=project)
    RetentionRule.objects.filter(project=project).delete()
    RetentionRule.objects.bulk_create(
        RetentionRule(
            project=project,
            label_name=rule.name,
            label_value=rule.value,
            text_days=rule.text_days,
            metadata_days=rule.metadata_days,
        )
        for rule in rules
        if rule.text_days is not None or rule.metadata_days is not None
    )
    return before, retention_rules(project=project)


def run_hold(*, run: Run, why: MaskedText, user: User | None) -> None:
    """Put a run on legal hold, or change why it is."""
    RunHold.objects.update_or_create(run=run, defaults={"why": why, "user": user})


def run_release(*, run: Run) -> bool:
    """Lift a run's hold; False where it had none."""
    return bool(RunHold.objects.filter(run=run).delete()[0])


def project_mark(
    *, project: Project, held: Q, end: float, empty: Callable[[int], object]
) -> dict[str, int]:
    """Mark what is past its days and let `empty` remove it, run by run, until `end` of the clock.

    Returns how many runs, transcripts and receipts of deliveries went. `end` is a
    `time.monotonic`.
    """
    gone = {"runs": 0, "transcripts": 0, "receipts": 0}
    rules = retention_rules(project=project)
    for kept, mark, name in (
        (Kept.ALL, run_mark, "runs"),
        (Kept.TEXT, transcript_mark, "transcripts"),
    ):
        due = runs_due(project=project, rules=rules, kept=kept, held=held)
        while time.monotonic() < end:
            found = list(due.values_list("pk", "kept_until", "updated_at")[:RUNS_AT_ONCE])
            marked = 0
            for pk, until, updated_at in found:
                days = (until - updated_at).days
                by = BY_RETENTION.format(days=days)
                since = timezone.now() - timedelta(days=days)
                if mark(pk=pk, by=by, held=held, unchanged_since=since):
                    marked += 1
                    empty(pk)
                if time.monotonic() >= end:
                    break
            gone[name] += marked
            if not marked:
                break
    gone["receipts"] = _receipts_remove(project, rules, end)
    return gone


def _receipts_remove(project: Project, rules: Sequence[Rule], end: float) -> int:
    """Receipts of deliveries that are done name runs, so they go with the first of them."""
    said = [rule.metadata_days for rule in rules if rule.metadata_days is not None]
    if not said:
        return 0
    days = min(said)
    done = Delivery.objects.filter(
        project=project,
        received_at__lt=timezone.now() - timedelta(days=days),
        state__in=(DeliveryState.STORED, DeliveryState.DISCARDED),
    ).order_by("received_at")
    gone = 0
    while time.monotonic() < end:
        pks = list(done.values_list("pk", flat=True)[:DELIVERIES_AT_ONCE])
        if not pks:
            break
        gone += Delivery.objects.filter(pk__in=pks).delete()[0]
    return gone
