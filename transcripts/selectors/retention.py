"""What retention would remove: the runs that are past their days, under rules of now or to be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import connection
from django.db.models import Count, DateTimeField, Exists, F, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.utils import timezone

from transcripts.choices import Removal
from transcripts.models import Project, RetentionRule, Run, RunHold

# Counting goes so far and then says "more than".
COUNT_UP_TO = 100_000
# Rounds whose size on disk is measured; the size of all is estimated from theirs.
MEASURED_ROUNDS = 20_000
MEASURED_RUNS = 200


class Kept(StrEnum):
    """What of a run the days are for."""

    TEXT = "text_days"
    ALL = "metadata_days"


@dataclass(frozen=True, slots=True)
class Rule:
    """Days for the runs with one label, or for all (`name` empty); see `RetentionRule`."""

    name: str = ""
    value: str = ""
    text_days: int | None = None
    metadata_days: int | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """What would be removed: how many runs (up to COUNT_UP_TO + 1) and rounds, about how many
    bytes, when the oldest came, and how many more are kept by a hold.
    """

    runs: int
    rounds: int
    size: int
    oldest: datetime | None
    held: int

    @property
    def is_more(self) -> bool:
        return self.runs > COUNT_UP_TO


def retention_rules(*, project: Project) -> list[Rule]:
    """The project's own rule first, where there is one; then those of labels, by name."""
    rows = RetentionRule.objects.filter(project=project).order_by("label_name", "label_value")
    return [Rule(row.label_name, row.label_value, row.text_days, row.metadata_days) for row in rows]


def runs_due(*, project: Project, rules: Sequence[Rule], kept: Kept, held: Q) -> QuerySet[Any]:
    """Runs of which nothing came for longer than their days, with `kept_until`, the oldest first;
    none on hold.

    A label's days go before the project's; of several labels the fewest days hold.
    """
    return _past(project, rules, kept).exclude(_on_hold(held)).order_by("received_at", "pk")


def retention_preview(*, project: Project, rules: Sequence[Rule], kept: Kept, held: Q) -> Due:
    """What the rules would remove now. Four queries."""
    due = runs_due(project=project, rules=rules, kept=kept, held=held)
    found = due.only("round_count", "received_at")[: COUNT_UP_TO + 1].aggregate(
        runs=Count("pk"), rounds=Sum("round_count"), oldest=Min("received_at")
    )
    held_back = _past(project, rules, kept).filter(_on_hold(held)).order_by()
    return Due(
        runs=found["runs"],
        rounds=found["rounds"] or 0,
        size=_size(due, found["rounds"] or 0),
        oldest=found["oldest"],
        held=held_back.values("pk")[: COUNT_UP_TO + 1].count(),
    )


def _past(project: Project, rules: Sequence[Rule], kept: Kept) -> QuerySet[Any]:
    days = [value for rule in rules if (value := getattr(rule, kept)) is not None]
    runs = Run.objects.filter(project=project).exclude(removal=Removal.RUN)
    if kept is Kept.TEXT:
        runs = runs.filter(text_removed_at=None)
    runs = runs.annotate(kept_until=_kept_until(rules, kept))
    if not days:
        return runs.none()
    # The one index that there is: nothing came of a run before it came.
    runs = runs.filter(received_at__lt=timezone.now() - timedelta(days=min(days)))
    return runs.filter(kept_until__lt=timezone.now())


def _kept_until(rules: Sequence[Rule], kept: Kept) -> RawSQL:
    of_all = next((getattr(rule, kept) for rule in rules if not rule.name), None)
    labels = [
        [rule.name, rule.value, getattr(rule, kept)]
        for rule in rules
        if rule.name and getattr(rule, kept) is not None
    ]
    return RawSQL(_KEPT_UNTIL, (json.dumps(labels), of_all), output_field=DateTimeField())


_KEPT_UNTIL = """
transcripts_run.updated_at + interval '1 day' * coalesce((
    SELECT min((rule->>2)::int)
    FROM jsonb_array_elements(%s::jsonb) AS rule,
         jsonb_array_elements(transcripts_run.labels) AS label
    WHERE label->>0 = rule->>0 AND label->>1 = rule->>1), %s::int)
"""


def _on_hold(held: Q) -> Q:
    own = Q(Exists(RunHold.objects.filter(run=OuterRef("pk"))))
    return own | held if held else own


def _size(due: QuerySet[Any], rounds: int) -> int:
    """About how many bytes the texts of the runs take, by a sample of the oldest."""
    sample: list[int] = []
    seen = 0
    for pk, count in due.values_list("pk", F("round_count"))[:MEASURED_RUNS]:
        if sample and seen + count > MEASURED_ROUNDS:
            break
        sample.append(pk)
        seen += count
    if not seen or seen > 10 * MEASURED_ROUNDS:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_SIZE, {"runs": sample})
        (measured,) = cursor.fetchone()
    return int(measured) * rounds // seen


_SIZE = """
SELECT coalesce((SELECT sum(pg_column_size(content)) FROM transcripts_message
                 WHERE run_id = ANY(%(runs)s)), 0)
     + coalesce((SELECT sum(pg_column_size(reply) + pg_column_size(reasoning))
                 FROM transcripts_round WHERE run_id = ANY(%(runs)s)), 0)
     + coalesce((SELECT sum(pg_column_size(args) + coalesce(pg_column_size(result), 0))
                 FROM transcripts_toolcall WHERE run_id = ANY(%(runs)s)), 0)
"""
