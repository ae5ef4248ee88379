"""Compares the rounds that came with those that are kept, and writes what is new in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from transcripts.record import InputChange, Placed, Round
from transcripts.services import rows
from transcripts.services.content import Arrived
from transcripts.services.inputs import Merged, StoredInput, adds_at_end, merge_inputs


@dataclass(frozen=True, slots=True)
class Measures:
    """What one round adds to the sums of its run."""

    calls: int
    unanswered: int
    unlabelled: int
    orphans: int
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    cost: Decimal | None
    duration_ms: float | None
    digest: bytes

    @classmethod
    def of(cls, round_: Round, digest: bytes) -> Measures:
        return cls(
            calls=len(round_.calls),
            unanswered=sum(call.result is None for call in round_.calls),
            unlabelled=int(round_.stop_raw is None),
            orphans=len(round_.orphans),
            tokens_in=round_.tokens_in,
            tokens_out=round_.tokens_out,
            tokens_cached=round_.tokens_cached,
            cost=round_.cost,
            duration_ms=round_.duration_ms,
            digest=digest,
        )


_KEPT = """
SELECT number, call_count, unanswered, (stop_raw IS NULL)::int, jsonb_array_length(orphans),
       tokens_in, tokens_out, tokens_cached, cost, duration_ms, digest
FROM transcripts_round WHERE run_id = %s AND number = ANY(%s)
"""
_KEPT_CALLS = """
SELECT round_number, index, result_digest, is_error
FROM transcripts_toolcall WHERE run_id = %s AND round_number = ANY(%s)
"""
_INPUTS = """
SELECT number, input_kind, input_size, added, dropped
FROM transcripts_round WHERE run_id = %s ORDER BY number
"""
# The tail of a run whose last round's input is not known.
NOT_KNOWN = -1


@dataclass
class RoundChanges:
    """What a delivery does to the rounds of a run, before anything is written.

    `kept` are those of the arrived rounds that are there already; `inputs` all inputs to be
    written; `chain` all inputs that were there, where they had to be read; `tail_size` that of the
    run afterwards; `retold` rounds whose input is written anew and is the same.
    """

    arrived: Arrived
    tail_size: int | None
    kept: dict[int, Measures] = field(default_factory=dict)
    kept_results: dict[tuple[int, int], tuple[str, bool | None]] = field(default_factory=dict)
    inputs: dict[int, StoredInput] = field(default_factory=dict)
    chain: dict[int, StoredInput] = field(default_factory=dict)
    retold: frozenset[int] = frozenset()

    @cached_property
    def new(self) -> list[int]:
        return [number for number in self.arrived.rounds if number not in self.kept]

    @cached_property
    def rewritten(self) -> list[int]:
        """Rounds that were there with other content."""
        digests = self.arrived.round_digests
        return [
            n for n, kept in self.kept.items() if kept.digest != digests[n] or self._says_more(n)
        ]

    def _says_more(self, number: int) -> bool:
        """Whether a call has a result or a flag that is not there; to say none unsays nothing."""
        for index, call in enumerate(self.arrived.rounds[number].calls):
            result, is_error = self.kept_results[number, index]
            if call.result is not None and self.arrived.results[number, index] != result:
                return True
            if call.is_error is not None and call.is_error != is_error:
                return True
        return False

    @cached_property
    def replaced_numbers(self) -> set[int]:
        """Rounds that were there with other content or another input."""
        said = {n for n, round_ in self.arrived.rounds.items() if round_.input is not None}
        said -= self.retold
        return {*self.rewritten, *(n for n in self.inputs if n in self.kept and n in said)}

    @property
    def replaced(self) -> int:
        return len(self.replaced_numbers)

    @cached_property
    def written(self) -> list[int]:
        """Rounds whose content is masked and written."""
        return sorted((*self.new, *self.rewritten))

    @property
    def folded(self) -> int:
        return len(self.kept) - self.replaced


def compare_rounds(
    *, run_pk: int | None, last_round: int, tail_size: int | None, arrived: Arrived
) -> RoundChanges:
    """What `arrived` changes in the run's rounds. Reads no more than it needs to tell.

    `last_round` and `tail_size` are those of the run, see `transcripts.models.Run`.
    """
    numbers = list(arrived.rounds)
    changes = RoundChanges(arrived, tail_size)
    inputs = {n: _with_idents(round_.input, arrived) for n, round_ in arrived.rounds.items()}
    if run_pk is None or not numbers:
        _merge(changes, merge_inputs({}, inputs), last_round)
        return changes
    if numbers[0] <= last_round:
        for number, *measures in rows.fetch(_KEPT, (run_pk, numbers)):
            changes.kept[number] = Measures(*measures)
        for number, index, *result in rows.fetch(_KEPT_CALLS, (run_pk, list(changes.kept))):
            changes.kept_results[number, index] = (result[0], result[1])
    elif tail_size is not None and _only_adds(numbers, inputs, last_round, tail_size):
        # What is added at the end can be placed by the size of what was there alone.
        known = None if tail_size == NOT_KNOWN else [""] * tail_size
        _merge(changes, merge_inputs({}, inputs, after=last_round, keys=known), last_round)
        return changes
    if any(inputs.values()) or changes.written:
        changes.chain = {
            number: rows.input_of(*columns) for number, *columns in rows.fetch(_INPUTS, (run_pk,))
        }
        _merge(changes, merge_inputs(changes.chain, inputs), last_round)
    return changes


def _merge(changes: RoundChanges, merged: Merged, last_round: int) -> None:
    changes.inputs = merged.changed
    changes.retold = merged.retold
    if merged.reached >= last_round:
        changes.tail_size = NOT_KNOWN if merged.size is None else merged.size


def write_rounds(*, writes: rows.Writes, changes: RoundChanges, masked: Iterable[Round]) -> None:
    """Write the rounds of `changes.written`, masked and in that order, and all changed inputs."""
    arrived = changes.arrived
    round_rows, call_rows = [], []
    for number, round_ in zip(changes.written, masked, strict=True):
        kept = changes.inputs.get(number) or changes.chain.get(number) or StoredInput()
        round_rows.append(
            rows.round_row(
                round_,
                digest=arrived.round_digests[number],
                reply_digest=arrived.replies[number],
                ident=arrived.content.round_ident(arrived.rounds[number]),
                kept=kept,
            )
        )
        call_rows += [
            rows.call_row(
                call,
                round_number=number,
                index=index,
                result_digest=arrived.results[number, index],
            )
            for index, call in enumerate(round_.calls)
        ]
    if changes.rewritten:
        rows.delete_calls(writes.run_pk, changes.rewritten)
    writes.rounds(round_rows)
    writes.calls(call_rows)
    there = set(changes.written)
    writes.inputs({n: kept for n, kept in changes.inputs.items() if n not in there})


def _with_idents(change: InputChange | None, arrived: Arrived) -> InputChange | None:
    if change is None:
        return None
    ident_of = arrived.ident_of
    return InputChange(
        tuple(Placed(ident_of(placed.key), placed.at) for placed in change.added),
        tuple(Placed(ident_of(placed.key), placed.at) for placed in change.dropped),
        change.whole,
    )


def _only_adds(
    numbers: list[int], inputs: dict[int, InputChange | None], last_round: int, size: int
) -> bool:
    """Whether the rounds only add to the end of what is there, so that it need not be read."""
    before = last_round
    for number in numbers:
        if number > before + 1:
            return True  # what comes after a gap does not stand on what was there
        before = number
        change = inputs[number]
        if change is None:
            continue
        if change.whole or change.dropped:
            return False
        if size != NOT_KNOWN:
            if not adds_at_end(change, size):
                return False
            size += len(change.added)
    return True
