"""Keeps the index of full-text search. What a delivery brings is only noted with its rows, in its
transaction, and what it changes is taken out; the index is made of the stored rows soon after
(`texts_catch_up`). So the verdict on a run waits for no index, a run that is sent round by round is
indexed in pieces that are worth it, and what was replaced or masked is found no more at once.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from transcripts.choices import Removal
from transcripts.models import Run, RunTextDue
from transcripts.models.runs import TEXT_VERSION
from transcripts.selectors.texts import (
    TextsOfRound,
    as_places,
    header_texts,
    round_numbers,
    texts_of_rounds,
    unread_messages,
)
from transcripts.services import rows
from transcripts.services.run_messages import MessageChanges
from transcripts.services.run_rounds import RoundChanges
from transcripts.text_index.sheets import (
    RoundText,
    Sheet,
    mark_of,
    scopes_of,
    sheets_of,
)

logger = logging.getLogger(__name__)

# Rounds that are read at once to be taken apart anew.
AT_ONCE = 500
HEADER_ROUND = 0
# Runs that are looked up at once to be indexed.
CAUGHT_UP = 2_000
_COLUMNS = {
    "first_round": "integer",
    "last_round": "integer",
    "rounds": "integer[]",
    "words": "tsvector",
}
_INSERT = (
    f"INSERT INTO transcripts_runtext (run_id, {', '.join(_COLUMNS)}) "
    f"SELECT %s, {', '.join(_COLUMNS)} FROM json_to_recordset(%s::json) AS v("
    + ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
    + ")"
)
_FORGET = "DELETE FROM transcripts_runtext WHERE run_id = %s AND rounds && %s::int[]"
_FORGET_AFTER = "DELETE FROM transcripts_runtext WHERE run_id = %s AND last_round > %s"
_FORGET_ALL = "DELETE FROM transcripts_runtext WHERE run_id = %s"
_THERE = "SELECT rounds FROM transcripts_runtext WHERE run_id = %s"
_DUE = (
    "INSERT INTO transcripts_runtextdue (run_id, since) VALUES (%s, now())"
    " ON CONFLICT (run_id) DO NOTHING"
)
_DONE = "DELETE FROM transcripts_runtextdue WHERE run_id = %s"
# What a crash of the database undoes is still due then.
_QUICK = "SET LOCAL synchronous_commit TO off"


def delivery_text_note(
    *,
    writes: rows.Writes,
    run: Run,
    changes: RoundChanges,
    messages: MessageChanges,
    created: bool,
) -> None:
    """Note with a delivery's writes that the run is due to be indexed, and take out of the index
    the rounds that it changes.
    """
    if not (created or changes.written or messages.whole):
        return
    writes.add(_DUE, (run.pk,))
    changed = set(changes.rewritten)
    if messages.whole:
        # A message is found in the round that added it; one that none did, with the run's names.
        changed.add(HEADER_ROUND)
        changed.update(
            number
            for number, kept in changes.inputs.items()
            if any(ident in messages.whole for _, ident in kept.added)
        )
    if changed and not created:
        writes.add(_FORGET, (run.pk, sorted(changed)))


def run_names_note(*, run: Run) -> None:
    """Let what the run is named by be indexed anew. The caller holds the run's lock."""
    rows.execute(_FORGET, (run.pk, [HEADER_ROUND]))
    rows.execute(_DUE, (run.pk,))


def run_text_forget(*, run: Run, after: int | None = None) -> None:
    """Take all of a run, or what stands in rounds after one, out of the index, and let what is left
    of the run be indexed anew. To be called, in the transaction that did it, by what changes texts
    that are already stored. The caller holds the run's lock.
    """
    if after is None:
        rows.execute(_FORGET_ALL, (run.pk,))
    else:
        rows.execute(_FORGET_AFTER, (run.pk, after))
    rows.execute(_DUE, (run.pk,))


def run_text_index(*, run: Run) -> None:
    """Add to the index what of a run is not in it. The caller holds the run's lock."""
    there = {number for (numbers,) in rows.fetch(_THERE, (run.pk,)) for number in numbers}
    if HEADER_ROUND not in there:
        _insert(run, sheets_of([RoundText(HEADER_ROUND, _names(run))]))
    _add(run, [number for number in round_numbers(run.pk) if number not in there])
    rows.execute(_DONE, (run.pk,))


def texts_catch_up(*, seconds: float) -> bool:
    """Index the runs that are due, those that wait longest first, then those that were stored under
    an older index or none, the newest first; for so long. Returns whether there is more to do.
    Safe to run twice, and beside others.
    """
    end = time.monotonic() + seconds
    due = RunTextDue.objects.order_by("since", "pk").values_list("pk", flat=True)
    behind = Run.objects.filter(text_version__lt=TEXT_VERSION).order_by("-pk")
    for pks in (due, behind.values_list("pk", flat=True)):
        for pk in list(pks[:CAUGHT_UP]):
            if time.monotonic() > end:
                return True
            _catch_up(pk)
    return False


def texts_are_late(*, than: timedelta) -> bool:
    """Whether a run has waited longer for the index."""
    return RunTextDue.objects.filter(since__lt=timezone.now() - than).exists()


@transaction.atomic
def _catch_up(pk: int) -> None:
    rows.execute(_QUICK, ())
    # One that is locked is being written to, and is due again afterwards.
    locked = Run.objects.select_for_update(skip_locked=True, no_key=True)
    run = locked.filter(pk=pk).first()
    if run is None:
        return
    try:
        with transaction.atomic():
            _index(run)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        # One run must not hold up the others. A message may quote it: the type alone is told.
        logger.error("run %d could not be indexed: %s", pk, type(error).__name__)
    rows.execute(_DONE, (pk,))
    if run.text_version < TEXT_VERSION:
        Run.objects.filter(pk=pk).update(text_version=TEXT_VERSION)


def _index(run: Run) -> None:
    if run.text_version < TEXT_VERSION:
        rows.execute(_FORGET_ALL, (run.pk,))
    if run.text_removed_at is None and run.removal == Removal.NONE:
        run_text_index(run=run)


def _names(run: Run) -> tuple[str, ...]:
    """What the run is named by, and the messages that no round added."""
    return (*header_texts(run), *filter(None, unread_messages(run.pk)))


def _add(run: Run, numbers: Sequence[int]) -> None:
    for start in range(0, len(numbers), AT_ONCE):
        found = texts_of_rounds(as_places(run.pk, numbers[start : start + AT_ONCE]))
        _insert(run, sheets_of(_stored_text(texts) for texts in found.values()))


def _stored_text(found: TextsOfRound) -> RoundText:
    marks = {mark_of("t", tool) for tool in found.tools} | {mark_of("s", found.stop)}
    return RoundText(found.number, tuple(text for _, text in found.texts), frozenset(marks))


def _insert(run: Run, sheets: Iterable[Sheet]) -> None:
    told = _rows(run, sheets)
    if told != "[]":
        rows.execute(_INSERT, (run.pk, told))


def _rows(run: Run, sheets: Iterable[Sheet]) -> str:
    scopes = scopes_of(project_pk=run.project_id, run_pk=run.pk)
    told: list[dict[str, Any]] = [
        {
            "first_round": sheet.rounds[0],
            "last_round": sheet.rounds[-1],
            "rounds": sheet.rounds,
            "words": sheet.vector(scopes),
        }
        for sheet in sheets
    ]
    return rows.json_of(told)
