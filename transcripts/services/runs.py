"""Takes what a delivery says of a run into the rows of the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from django.utils import timezone

from transcripts.choices import Ending
from transcripts.keys import lock_number
from transcripts.maskers import run_masker
from transcripts.masking import Masker
from transcripts.masking.types import MaskedRun, MaskReceipt
from transcripts.models import Project, Run
from transcripts.record import RunRecord
from transcripts.services import rows
from transcripts.services.assembled import forget_unsaid
from transcripts.services.content import Arrived, Content, storable
from transcripts.services.inserts import row_insert
from transcripts.services.masked_rows import earlier_rows_mask, keep_receipt
from transcripts.services.quiet import reopen
from transcripts.services.run_answers import join_answers
from transcripts.services.run_facts import derive_ending, derive_ticket, last_unanswered
from transcripts.services.run_header import header_only, keep_header
from transcripts.services.run_messages import (
    MessageChanges,
    compare_messages,
    drop_unread,
    keep_old_texts,
    link_messages,
    write_messages,
)
from transcripts.services.run_rounds import RoundChanges, compare_rounds, write_rounds
from transcripts.services.text_index import delivery_text_note, run_names_note
from transcripts.services.totals import completeness_of, count_rounds, sum_again

# Postgres's integer; a round beyond it cannot be kept.
LAST_NUMBER = 2**31 - 1
# The locks with two numbers are apart from those of runs, which have one.
MANY_RUNS = 1
# What masking makes of nothing new.
NOTHING = MaskedRun(RunRecord(run_id=""), MaskReceipt("", {}))


_LOCK = "SELECT * FROM transcripts_run WHERE project_id = %s AND digest = %s FOR NO KEY UPDATE"
_IS_THERE = "SELECT 1 FROM transcripts_run WHERE project_id = %s AND digest = %s"
_WAS_ERASED = "SELECT 1 FROM transcripts_erasedrun WHERE project_id = %s AND digest = %s"


class RunRefusedError(ValueError):
    """A run cannot be stored; the message says what and where, and quotes no content."""


class RunGoneError(Exception):
    """What comes of a run is not kept: it was erased, or its transcript removed. Says which."""


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """What a delivery did to one run. Rounds: `new` ones, `folded` repeats, `replaced` and `late`
    ones. `answered`: calls of earlier deliveries whose results came now. `retold`: the run as a
    whole is told otherwise, such as how it ended, or with less, since a secret became
    known. The numbers tell the same round by round.
    """

    run: Run
    created: bool
    new: int
    folded: int
    replaced: int
    late: int
    answered: int = 0
    retold: bool = False
    new_numbers: frozenset[int] = frozenset()
    replaced_numbers: frozenset[int] = frozenset()
    late_numbers: frozenset[int] = frozenset()

    def share(self, numbers: Collection[int]) -> StoreOutcome:
        """What of this is due to these rounds."""
        new = len(self.new_numbers.intersection(numbers))
        replaced = len(self.replaced_numbers.intersection(numbers))
        late = len(self.late_numbers.intersection(numbers))
        folded = len(numbers) - new - replaced
        return replace(self, new=new, folded=folded, replaced=replaced, late=late)

    @property
    def changed(self) -> bool:
        """Whether there is anything that an analysis has not seen."""
        return bool(self.created or self.new or self.replaced or self.answered or self.retold)


MaskerFactory = Callable[[Project, Run], Masker]


def run_store(
    *,
    project: Project,
    fragment: RunRecord,
    live: bool,
    assembled: bool = False,
    make_masker: MaskerFactory = run_masker,
) -> StoreOutcome:
    """Take a whole run, or what has come of it, into the project. Needs a transaction, which it
    leaves open.

    `live`: the run goes on; else it is over with what has come. `assembled`: the fragment is all
    that is known of the run, put together anew, and what it does not hold is no longer so. Content
    that is there already changes nothing; other content for a round replaces it. Only what is new
    is masked and written.
    The run is locked until the transaction ends. Raises `MaskingError` or `RunRefusedError`; the
    transaction must then be rolled back. Raises `RunGoneError` before anything is written.
    """
    record = storable(fragment)
    _refuse_numbers(record)
    content = Content(project_id=project.pk, run_id=record.run_id)
    run = _locked(project, content.salt)
    created = run.pk is None
    if assembled and not created:
        forget_unsaid(run=run, record=record)
    arrived = Arrived(record, content)
    changes = compare_rounds(
        run_pk=run.pk, last_round=run.last_round, tail_size=run.tail_size, arrived=arrived
    )
    messages = compare_messages(run_pk=run.pk, changes=changes)

    masker = make_masker(project, run)
    header_digest = content.header(record)
    header_is_new = header_digest != bytes(run.header_digest)
    masked, remasked = NOTHING, 0
    if changes.written or messages.whole or messages.repeats or header_is_new:
        masked = masker.run(_reduced(record, changes, messages, with_header=header_is_new))
        if not created:
            remasked = earlier_rows_mask(run=run, masker=masker)
        keep_receipt(run=run, masker=masker, all_of_it=created)
    if header_is_new:
        keep_header(run=run, masked=masked, plain=header_only(record))
        run.header_digest = header_digest

    late_numbers = frozenset(n for n in changes.new if n < run.last_round and not created)
    late = len(late_numbers)
    last_before, over_before, ending_before = run.last_round, run.over, run.ending
    if run.quiet and (changes.written or header_is_new):
        reopen(run)
    run.last_round = max(run.last_round, *arrived.rounds, 0)
    run.over = not live if assembled else run.over or not live
    run.tail_size = changes.tail_size
    count_rounds(run=run, changes=changes, late=late)
    if assembled:
        run.folded, run.replaced, run.late = dataclasses.astuple(record.received)
    if created:
        row_insert(run)
    _write(run, changes, messages, masked, late=bool(late or changes.kept), created=created)
    answered = join_answers(run=run, changes=changes, messages=messages)
    if changes.rewritten:
        sum_again(run=run)
    tail = changes.written and changes.written[-1] >= last_before - 1
    known = None if answered else arrived
    # A new assembly may have lost its last rounds to a run within it, or an ending that it said.
    again = created or assembled or tail or answered or run.over != over_before
    if again and not run.ending_said:
        derive_ending(run=run, arrived=known)
    title_before = run.title
    derive_ticket(run=run, inputs=changes.inputs)
    if (header_is_new or run.title != title_before) and not created:
        run_names_note(run=run)
    waiting = last_unanswered(run=run, arrived=known) if run.ending == Ending.OPEN else 0
    run.completeness = completeness_of(run=run, new=changes.new, last_unanswered=waiting)
    run.updated_at = timezone.now()
    if (header_is_new or remasked) and not created:
        run.save()
    else:
        rows.update_run(run)
    return StoreOutcome(
        run=run,
        created=created,
        new=len(changes.new),
        folded=changes.folded,
        replaced=changes.replaced,
        late=late,
        answered=answered,
        new_numbers=frozenset(changes.new),
        replaced_numbers=frozenset(changes.replaced_numbers),
        late_numbers=late_numbers,
        retold=bool(header_is_new or remasked or run.ending != ending_before),
    )


def run_locked(*, pk: int) -> Run | None:
    """The run under the lock that `run_store` takes, until the transaction ends; None:
    it is gone.
    """
    return Run.objects.select_for_update(no_key=True).filter(pk=pk).first()


def wait_for_turn(*, project: Project) -> None:
    """Let no other delivery of several runs in until the transaction ends: each locks its runs in
    its own order, so that two of them would wait for each other.
    """
    rows.execute("SELECT pg_advisory_xact_lock(%s, %s)", (MANY_RUNS, project.pk % 2**31))


def _locked(project: Project, digest: bytes) -> Run:
    """The run with its row locked; not yet saved when there is none, under a lock on its name."""
    run = _found(project, digest)
    if run is None:
        rows.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number(digest),))
        if rows.fetch(_IS_THERE, (project.pk, digest)):
            run = _found(project, digest)
    if run is None:
        if rows.fetch(_WAS_ERASED, (project.pk, digest)):
            raise RunGoneError("this run was erased")
        return Run(project=project, digest=digest)
    if run.text_removed_at is not None:
        raise RunGoneError("this run's transcript was removed")
    return run


def _found(project: Project, digest: bytes) -> Run | None:
    # Of its own SQL, since the ORM takes longer to make it than the database to answer.
    return next(iter(Run.objects.raw(_LOCK, (project.pk, digest))), None)


def _refuse_numbers(record: RunRecord) -> None:
    for round_ in record.rounds:
        if not 1 <= round_.number <= LAST_NUMBER:
            raise RunRefusedError(f"round {round_.number}: rounds are numbered from 1")


def _reduced(
    record: RunRecord, changes: RoundChanges, messages: MessageChanges, *, with_header: bool
) -> RunRecord:
    """What of the record is new, for masking: rounds without inputs, then messages in order of
    writing.
    """
    header = header_only(record) if with_header else RunRecord(run_id="")
    return replace(
        header,
        rounds=tuple(
            replace(changes.arrived.rounds[number], input=None) for number in changes.written
        ),
        messages=tuple(
            message if message.named else replace(message, key="")
            for part in (messages.whole, messages.repeats)
            for message, _ in part.values()
        ),
    )


def _write(
    run: Run,
    changes: RoundChanges,
    messages: MessageChanges,
    masked: MaskedRun,
    *,
    late: bool,
    created: bool,
) -> None:
    keep_old_texts(run_pk=run.pk, changes=changes)
    writes = rows.Writes(run.pk)
    write_rounds(writes=writes, changes=changes, masked=masked.record.rounds)
    count = len(messages.whole)
    write_messages(
        writes=writes,
        found=messages,
        masked=masked.record.messages[:count],
        masked_repeats=masked.record.messages[count:],
    )
    if run.has_messages:
        link_messages(writes=writes, changes=changes, late=late)
    delivery_text_note(writes=writes, run=run, changes=changes, messages=messages, created=created)
    writes.send()
    drop_unread(run_pk=run.pk, changes=changes)
    run.has_messages = run.has_messages or bool(masked.record.messages)
