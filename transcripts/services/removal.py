"""Removes the transcript of a run, or all of it: at once for who reads, then row by row in steps.

First the run is marked, in one short transaction: from then on nobody reads its transcript, and
nothing that comes of it is kept. A worker then goes through the rows that hang on it, some
thousands in a transaction, so that a run of a million rounds holds no lock for long and passes
through no memory. Killed in between it goes on where rows are left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Q
from django.utils import timezone

from transcripts.choices import REMOVED, Removal
from transcripts.models import (
    ErasedRun,
    Message,
    OpenTrace,
    Round,
    Run,
    RunHold,
    RunText,
    RunTextDue,
    ToolCall,
)
from transcripts.services.runs import run_locked

# Rows that one transaction removes or empties: some hundred milliseconds.
ROWS_AT_ONCE = 2_000
BY_RETENTION = "the retention of {days} days"
BY_ERASURE = "an erasure"
EMPTY, EMPTY_LIST, EMPTY_BYTES, NOTHING = "''", "'[]'::jsonb", "''::bytea", "NULL"


class HeldError(ValueError):
    """A run is on legal hold, and so is not removed."""


@dataclass(frozen=True, slots=True)
class Hanging:
    """What becomes of a table's rows with the transcript of the run that they hang on.

    `key` is the column by which a run's rows are gone through. `emptied` maps columns to what they
    become, as SQL (the cheapest to compare first); `rows`: the rows go altogether. Neither: they
    stay, for the reason in `kept`. Rows that others hang on (`with_run`) are
    left to the deletion of the run itself, which also says whether they go with it.
    """

    model: type[models.Model]
    key: str
    emptied: Mapping[str, str] = field(default_factory=dict)
    rows: bool = False
    kept: str = ""
    with_run: bool = False


# Stays of a round: its number, stop reason, model, tokens, cost and time. Of a call: its name, its
# time, whether it was flagged as an error.
HANGING: tuple[Hanging, ...] = (
    Hanging(Message, "ident", rows=True),
    Hanging(RunText, "first_round", rows=True),
    Hanging(RunTextDue, "run_id", rows=True),
    Hanging(
        Round,
        "number",
        {
            "digest": EMPTY_BYTES,
            "reply_digest": EMPTY,
            "reply": EMPTY,
            "reasoning": EMPTY,
            "error": EMPTY,
            "input_kind": EMPTY,
            "added": EMPTY_LIST,
            "dropped": EMPTY_LIST,
            "orphans": EMPTY_LIST,
            "opaque": EMPTY_LIST,
        },
    ),
    Hanging(
        ToolCall,
        "round_number",
        {
            "joined": f"'{REMOVED}'",
            "result_digest": EMPTY,
            "call_id": EMPTY,
            "args": EMPTY,
            "result": NOTHING,
        },
    ),
    Hanging(RunHold, "run_id", kept="the reason of a hold is a person's, and says nothing of it"),
)
# What a run says of itself in words of the transcript.
OF_THE_RUN: dict[str, Any] = {
    "title": "",
    "ending_reason": "",
    "tools": [],
    "notes": [],
    "goal_ident": "",
    "ticket_ident": "",
    "ticket_round": None,
    "header_digest": b"",
    "has_messages": False,
    "mask_known": {},
}


@transaction.atomic
def transcript_mark(*, pk: int, by: str, held: Q, unchanged_since: datetime | None = None) -> bool:
    """Close a run's transcript for good; its rows are emptied later. False where there is none any
    more, the run is held, or something came of it after `unchanged_since`.

    `held`: which runs are kept besides those with a hold of their own.
    """
    run = run_locked(pk=pk)
    if run is None or run.text_removed_at is not None or _held(run, held):
        return False
    if unchanged_since is not None and run.updated_at >= unchanged_since:
        return False
    _close(run, Removal.TEXT, by)
    return True


@transaction.atomic
def run_mark(*, pk: int, by: str, held: Q, unchanged_since: datetime | None = None) -> bool:
    """The same for all of the run: from now on it is not there, for whoever asks."""
    run = run_locked(pk=pk)
    if run is None or run.removal == Removal.RUN or _held(run, held):
        return False
    if unchanged_since is not None and run.updated_at >= unchanged_since:
        return False
    _close(run, Removal.RUN, by)
    return True


@transaction.atomic
def run_erase(*, pk: int, held: Q) -> bool:
    """Mark a run for removal, and refuse what comes of it again. False where it is gone already;
    raises `HeldError`.
    """
    run = run_locked(pk=pk)
    if run is None or run.removal == Removal.RUN:
        return False
    if _held(run, held):
        raise HeldError("This run is on legal hold. Lift the hold first.")
    ErasedRun.objects.get_or_create(project=run.project, digest=bytes(run.digest))
    # Spans of it that are kept for late ones, still unmasked below their seal.
    OpenTrace.objects.filter(project=run.project, digest=bytes(run.digest)).delete()
    _close(run, Removal.RUN, BY_ERASURE)
    return True


def run_empty(*, pk: int, tables: Iterable[Hanging], end: float = math.inf) -> bool:
    """Remove what is left to remove of a marked run, until `end` (of `time.monotonic`); returns
    whether nothing is left. Commits as it goes; safe to do twice, or at once.
    """
    run = Run.objects.filter(pk=pk).exclude(removal=Removal.NONE).first()
    if run is None:
        return True
    whole = run.removal == Removal.RUN
    for table in tables:
        rows = table.rows or (whole and not table.with_run)
        if not _step_through(table, pk, rows=rows, end=end):
            return False
    if not whole:
        Run.objects.filter(pk=pk, removal=Removal.TEXT).update(removal=Removal.NONE)
        return True
    with transaction.atomic():
        if _erased(run):
            _forget_in_receipts(run)
        # With the few rows that hang on it and came in the meantime.
        Run.objects.filter(pk=pk, removal=Removal.RUN).delete()
    return True


def is_erased(*, pk: int) -> bool:
    """Whether a run was erased: what comes of it again is refused."""
    run = Run.objects.filter(pk=pk).only("project", "digest").first()
    return run is not None and _erased(run)


def runs_half_removed(*, limit: int) -> list[int]:
    """Marked runs with rows left."""
    found = Run.objects.exclude(removal=Removal.NONE).order_by("pk")
    return list(found.values_list("pk", flat=True)[:limit])


def _close(run: Run, removal: Removal, by: str) -> None:
    """Mark the run, which is locked, and take the transcript's words out of its own row."""
    # Not `updated_at`: the days that the rest is kept go on from when something last came.
    fields = {**OF_THE_RUN, "removal": removal}
    if run.text_removed_at is None:
        fields |= {"text_removed_at": timezone.now(), "text_removed_by": by}
    for name, value in fields.items():
        setattr(run, name, value)
    run.save(update_fields=list(fields))


def _held(run: Run, held: Q) -> bool:
    if RunHold.objects.filter(run=run).exists():
        return True
    return bool(held) and Run.objects.filter(held, pk=run.pk).exists()


_FORGET = """
UPDATE transcripts_delivery
SET error_at = '', outcome = outcome || jsonb_build_object('problems', '[]'::jsonb, 'runs', (
    SELECT jsonb_agg(CASE WHEN told->'pk' = %(pk)s::jsonb
                          THEN told || '{"run_id": ""}' ELSE told END)
    FROM jsonb_array_elements(outcome->'runs') AS told))
WHERE project_id = %(project)s AND outcome @> %(named)s::jsonb
"""


def _forget_in_receipts(run: Run) -> None:
    """Take the run's id, which may be a person's, out of the receipts that name it."""
    named = f'{{"runs": [{{"pk": {run.pk}}}]}}'
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, {"pk": str(run.pk), "project": run.project_id, "named": named})


def _erased(run: Run) -> bool:
    return ErasedRun.objects.filter(project=run.project_id, digest=bytes(run.digest)).exists()


def _change(table: Hanging, *, rows: bool) -> str:
    """The beginning of the statement that removes or empties rows; empty where they stay."""
    quote = connection.ops.quote_name
    name = quote(table.model._meta.db_table)
    if rows:
        return f"DELETE FROM {name}"
    said = ", ".join(f"{quote(column)} = {value}" for column, value in table.emptied.items())
    return f"UPDATE {name} SET {said}" if said else ""


def _left(table: Hanging) -> str:
    """The condition on rows that are not emptied yet."""
    names = ", ".join(map(connection.ops.quote_name, table.emptied))
    return f"AND ({names}) IS DISTINCT FROM ({', '.join(table.emptied.values())})"


def _step_through(table: Hanging, pk: int, *, rows: bool, end: float) -> bool:
    """Remove (`rows`) or empty a run's rows, ROWS_AT_ONCE in a transaction, in the order of their
    key; False where the time is over.
    """
    change = _change(table, rows=rows)
    if not change:
        return True
    name = connection.ops.quote_name(table.model._meta.db_table)
    key = connection.ops.quote_name(table.key)
    left = "" if rows else _left(table)
    after: str = ""
    values: tuple[Any, ...] = (pk,)
    while time.monotonic() < end:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"SELECT max(key) FROM (SELECT {key} AS key FROM {name}"
                f" WHERE run_id = %s {after} {left} ORDER BY {key} LIMIT {ROWS_AT_ONCE}) AS next",
                values,
            )
            (last,) = cursor.fetchone()
            if last is None:
                return True
            cursor.execute(f"{change} WHERE run_id = %s {after} AND {key} <= %s", (*values, last))
        after, values = f"AND {key} > %s", (pk, last)
    return False
