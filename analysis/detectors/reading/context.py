"""What the model no longer read: messages that were in an earlier round's input and are gone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transcripts.endings import ticket_keys
from transcripts.record import InputChange, Message, Round, RunRecord

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
    watch = _Watch(run)
    for round_ in run.rounds:
        if round_.input is not None:
            watch.follow(round_, round_.input)
    yield from watch.changes


class _Watch:
    """Follows one run's inputs.

    `present` counts the messages that are read now. A round that shares nothing with the one before
    has left a context: `asides` keeps its messages by its first one, `left_at` the change by
    which it was left, so that a run that comes back to it has lost nothing in between.
    """

    def __init__(self, run: RunRecord) -> None:
        self.run = run
        self.watched = {key: _folded(run, key) for key in ticket_keys(run)}
        self.present: dict[str, int] = {}
        self.changes: list[ContextChange] = []
        self.asides: dict[str, tuple[str, ...]] = {}
        self.left_at: dict[str, int] = {}
        self.lost_at: dict[str, int] = {}
        self.tokens: int | None = None

    def follow(self, round_: Round, change: InputChange) -> None:
        dropped, added, kept = _apply(self.present, change)
        self._find_again(round_, added)
        gone = tuple(key for key in dropped if not self.present.get(key))
        tokens_before, self.tokens = self.tokens, round_.tokens_in
        if not gone:
            return
        answers = all(self._role_of(key) not in (*INSTRUCTIONS, "user") for key in added)
        if not kept and answers and _cannot_be_all(tokens_before, round_.tokens_in):
            for key in dropped:
                self.present[key] = self.present.get(key, 0) + 1
            return
        fresh = False
        if not kept and added:
            earlier = self._change_context(dropped, added)
            if earlier is not None:
                gone = tuple(key for key in earlier if not self.present.get(key))
                if not gone:
                    return
            else:
                fresh = self._role_of(added[0]) in INSTRUCTIONS
        elif self._is_taken_over(change):
            # Another agent of the same run: its own instructions, and no history before its turn.
            gone = tuple(key for key in gone if self._role_of(key) not in INSTRUCTIONS)
            fresh = self._has_no_history()
            if not gone:
                return
        lost = () if fresh else self._lost(gone, added)
        self.lost_at.update({key: len(self.changes) for key in lost})
        self.changes.append(ContextChange(round_.number, gone, lost, fresh))

    def _find_again(self, round_: Round, added: list[str]) -> None:
        for key in list(self.lost_at):
            if self.present.get(key) or _held(self.run, key, self.watched[key], added):
                at = self.lost_at.pop(key)
                if at not in self.lost_at.values():
                    self.changes[at] = replace(self.changes[at], back_at=round_.number)

    def _change_context(self, dropped: list[str], added: list[str]) -> tuple[str, ...] | None:
        """Leave a context for another; what the other one read last, where the run was in it
        before.
        """
        self.asides[dropped[0]] = tuple(dropped)
        self.left_at.setdefault(dropped[0], len(self.changes))
        earlier = self.asides.pop(added[0], None)
        if earlier is not None:
            for at in range(self.left_at.pop(added[0], len(self.changes)), len(self.changes)):
                self.changes[at] = replace(self.changes[at], lost=(), fresh=True, back_at=None)
        return earlier

    def _lost(self, gone: tuple[str, ...], added: list[str]) -> tuple[str, ...]:
        return tuple(
            key
            for key in self.watched
            if key in gone
            and not _still_held(self.run, key, self.watched[key], self.present, added)
        )

    def _is_taken_over(self, change: InputChange) -> bool:
        """Other instructions, or the same from another hand, stand in the first place."""
        head = change.added[0] if change.added else None
        if head is None or not (change.whole or head.at == 0):
            return False
        return self._role_of(head.key) in INSTRUCTIONS or any(
            self._role_of(key) in INSTRUCTIONS and _held(self.run, key, text, [head.key])
            for key, text in self.watched.items()
        )

    def _has_no_history(self) -> bool:
        """Nothing is read but instructions and what a person wrote."""
        return all(self._role_of(key) in (*INSTRUCTIONS, "user") for key in self.present)

    def _role_of(self, key: str) -> str:
        message = self.run.message_by_key.get(key)
        return message.role if message is not None else ""


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
        before = list(present)
        present.clear()
        for key in added:
            present[key] = present.get(key, 0) + 1
        return (
            [key for key in before if key not in present],
            added,
            len(set(before) & present.keys()),
        )
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
        if text in folded or (instructions and _is_rewrite(text, folded)):
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
