"""What the model no longer read: messages that were in an earlier round's input and are gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transcripts.endings import ticket_keys
from transcripts.record import InputChange, Message, RunRecord

INSTRUCTIONS = frozenset({"system", "developer"})
# Messages of an input that are searched for the ticket's text, when the ticket's own message is
# gone.
MOST_SEARCHED = 2_000
# The part of its words that makes another system message the same instructions, sent anew.
REWRITTEN_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class ContextChange:
    """Round `round` read less than the one before it.

    `dropped` are the keys that are gone, in order. `lost` are those of goal and ticket that no
    text of the new input holds any longer. `fresh` says that the round starts a context of its
    own (a sub-agent): it shares no message with the round before and brings its own instructions.
    `back_at` is the round from which all that is in `lost` is read again.
    """

    round: int
    dropped: tuple[str, ...]
    lost: tuple[str, ...] = ()
    fresh: bool = False
    back_at: int | None = None


def read_context(run: RunRecord) -> Iterator[ContextChange]:
    """Each round that read less than the one before, ascending.

    Costs what changed in each round, not what each round read.
    """
    watched = {key: _folded(run, key) for key in ticket_keys(run)}
    present: dict[str, int] = {}
    asides: dict[str, tuple[str, ...]] = {}
    changes: list[ContextChange] = []
    lost_at: dict[str, int] = {}
    tokens: int | None = None
    for round_ in run.rounds:
        if round_.input is None:
            continue
        dropped, added, kept = _apply(present, round_.input)
        for key in [k for k in lost_at if present.get(k) or _held(run, k, watched[k], added)]:
            place = lost_at.pop(key)
            if not any(other == place for other in lost_at.values()):
                changes[place] = replace(changes[place], back_at=round_.number)
        gone = tuple(key for key in dropped if not present.get(key))
        tokens_before, tokens = tokens, round_.tokens_in
        if not gone:
            continue
        if not kept and _cannot_be_all(tokens_before, tokens):
            for key in dropped:
                present[key] = present.get(key, 0) + 1
            continue
        fresh = not kept and _brings_instructions(run, round_.input)
        if fresh:
            # Another agent's context; what its own last round read is what it is held against.
            asides[dropped[0]] = tuple(dropped)
            earlier = asides.pop(added[0], ())
            gone = tuple(key for key in earlier if not present.get(key))
            if earlier and not gone:
                continue
            fresh = not earlier
        lost = (
            []
            if fresh
            else [
                key
                for key in watched
                if key in gone and not _still_held(run, key, watched[key], present, added)
            ]
        )
        lost_at.update({key: len(changes) for key in lost})
        changes.append(ContextChange(round_.number, gone, tuple(lost), fresh))
    yield from changes


def _cannot_be_all(before: int | None, now: int | None) -> bool:
    """Nothing of the input before is left, and as much was read: the log holds only what is new."""
    return before is not None and now is not None and before > 0 and now >= before


def _folded(run: RunRecord, key: str) -> str:
    message = run.message_by_key.get(key)
    return " ".join(_text_of(run, message).split()) if message else ""


def _apply(present: dict[str, int], change: InputChange) -> tuple[list[str], list[str], int]:
    """Bring the counts of `present` up to date; answers dropped and added keys, and how many
    stayed.
    """
    added = [placed.key for placed in change.added]
    if change.whole:
        before = {key for key, times in present.items() if times}
        present.clear()
        for key in added:
            present[key] = present.get(key, 0) + 1
        return [key for key in before if key not in present], added, len(before & present.keys())
    dropped = []
    for placed in change.dropped:
        if present.get(placed.key):
            present[placed.key] -= 1
            dropped.append(placed.key)
            if not present[placed.key]:
                del present[placed.key]
    kept = len(present)
    for key in added:
        present[key] = present.get(key, 0) + 1
    return dropped, added, kept


def _brings_instructions(run: RunRecord, change: InputChange) -> bool:
    first = next((run.message_by_key.get(placed.key) for placed in change.added), None)
    return first is not None and first.role in INSTRUCTIONS


def _still_held(
    run: RunRecord, key: str, text: str, present: dict[str, int], added: list[str]
) -> bool:
    """New messages are looked into first; those that stayed only when there are few of them."""
    if _held(run, key, text, added):
        return True
    return len(present) <= MOST_SEARCHED and _held(run, key, text, list(present))


def _held(run: RunRecord, key: str, text: str, holders: list[str]) -> bool:
    """Whether a message among `holders` holds `text` word for word, or is the same instructions
    anew.
    """
    message = run.message_by_key.get(key)
    instructions = message is not None and message.role in INSTRUCTIONS
    for holder in holders:
        other = run.message_by_key.get(holder)
        if other is None or holder == key:
            continue
        folded = _folded(run, holder)
        if text in folded or (
            instructions and other.role in INSTRUCTIONS and _is_rewrite(text, folded)
        ):
            return True
    return False


def _is_rewrite(text: str, other: str) -> bool:
    """Instructions that were sent again with another date or another memory in them."""
    words, others = set(text.split()), set(other.split())
    return len(words & others) >= REWRITTEN_SHARE * len(words)


def _text_of(run: RunRecord, message: Message) -> str:
    if message.reply_of is not None:
        round_ = run.round_by_number.get(message.reply_of)
        return round_.reply if round_ else ""
    if message.result_of is not None:
        number, index = message.result_of
        round_ = run.round_by_number.get(number)
        if round_ is None or index >= len(round_.calls):
            return ""
        return round_.calls[index].result or ""
    return message.content
