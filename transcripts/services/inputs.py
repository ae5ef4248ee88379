"""Keeps what each round read as the change from the round before, whatever order rounds come in.

What is kept depends on what came and not on when. A round whose sender gave the whole input, or
whose chain of changes reaches back to one, has a *known* input, which later deliveries for other
rounds do not alter: it is kept as the change from round `number - 1` where that one is known, else
as a whole. A change from a round that is not there stays *loose*, as the sender gave it, until that
round comes. So a late round touches itself and its next neighbour only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transcripts.choices import InputKind
from transcripts.record import InputChange, Placed, apply_change, diff_inputs

Ref = tuple[int | None, str]


@dataclass(frozen=True, slots=True)
class StoredInput:
    """One round's input as it is kept; `size` counts the messages of a known input."""

    kind: str = InputKind.NONE
    added: tuple[Ref, ...] = ()
    dropped: tuple[Ref, ...] = ()
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Merged:
    """Inputs to be written, by round number; and how many messages round `reached` read, None where
    that is not known. Rounds after `reached` stay as they are. `retold`: changed ones that say what
    they said, from another base.
    """

    changed: dict[int, StoredInput]
    reached: int
    size: int | None
    retold: frozenset[int] = frozenset()


def merge_inputs(
    stored: Mapping[int, StoredInput],
    arrived: Mapping[int, InputChange | None],
    *,
    after: int = 0,
    keys: list[str] | None = None,
) -> Merged:
    """What is to be written: the inputs that are new or differ from `stored`.

    `arrived` holds stand-ins as keys; None where nothing is said of the input, which never unsays
    it. `stored` ascends and holds all rounds after round `after`, whose known input is `keys`
    (None: not known). From the start of the run: 0 and nothing.
    """
    walk = _Walk(stored, arrived, after, [] if after == 0 else keys)
    last = max(arrived, default=0)
    for number in sorted({*stored, *arrived}):
        if number > last and not walk.differs(number):
            break
        walk.step(number)
    return Merged(
        walk.changed,
        walk.new_at,
        None if walk.new is None else len(walk.new),
        frozenset(walk.retold),
    )


class _Walk:
    """Goes up the rounds with the known input before this delivery (`old`) and after it (`new`).

    While both are one and the same list object nothing has changed yet, and one update serves both.
    """

    def __init__(
        self,
        stored: Mapping[int, StoredInput],
        arrived: Mapping[int, InputChange | None],
        after: int,
        keys: list[str] | None,
    ) -> None:
        self.stored = stored
        self.arrived = arrived
        self.old = self.new = keys
        self.old_at = self.new_at = after
        self.changed: dict[int, StoredInput] = {}
        self.retold: set[int] = set()

    def differs(self, number: int) -> bool:
        """Whether a stored round stands on another input than before."""
        old, new = self._bases(number)
        return old is not new and old != new

    def step(self, number: int) -> None:
        old, new = self._bases(number)
        before = self.stored.get(number)
        entry = self._entry(number, before, old, new)
        if entry == before and old is new:
            self.old = self.new = _advance(new, entry)
            self.old_at = self.new_at = number
            return
        if entry != before:
            self.changed[number] = entry
        if self.old is self.new and new is not None:
            new = list(new)
        if before is not None:
            self.old, self.old_at = _advance(old, before), number
        self.new, self.new_at = _advance(new, entry), number
        if before is not None and self.new == self.old:
            self.new = self.old
            if self.new is not None:
                self.retold.add(number)
        if before is not None and before.kind == InputKind.LOOSE:
            change = self.arrived.get(number)
            if change is None or change == as_change(before):
                self.retold.add(number)

    def _bases(self, number: int) -> tuple[list[str] | None, list[str] | None]:
        old = self.old if self.old_at == number - 1 else None
        new = self.new if self.new_at == number - 1 else None
        return old, new

    def _entry(
        self,
        number: int,
        before: StoredInput | None,
        old: list[str] | None,
        new: list[str] | None,
    ) -> StoredInput:
        change = self.arrived.get(number)
        if change is not None:
            if change.whole:
                return _known(new, [placed.key for placed in change.added])
            return _changed(new, change)
        if before is None or before.kind == InputKind.NONE:
            return StoredInput()
        if before.kind == InputKind.LOOSE:
            return _changed(new, as_change(before))
        if old is new or (before.kind == InputKind.WHOLE and new is None):
            return before
        return _known(new, _advance(None if old is None else list(old), before) or [])


def as_change(stored: StoredInput) -> InputChange:
    """A kept input as the record's own type, with stand-ins as keys."""
    return InputChange(
        added=tuple(Placed(key, at) for at, key in stored.added),
        dropped=tuple(Placed(key, at) for at, key in stored.dropped),
        whole=stored.kind == InputKind.WHOLE,
    )


def _known(base: list[str] | None, keys: list[str]) -> StoredInput:
    if base is None:
        return StoredInput(InputKind.WHOLE, tuple(enumerate(keys)), (), len(keys))
    change = diff_inputs(base, keys)
    return StoredInput(
        InputKind.CHANGE,
        tuple((placed.at, placed.key) for placed in change.added),
        tuple((placed.at, placed.key) for placed in change.dropped),
        len(keys),
    )


def _changed(base: list[str] | None, change: InputChange) -> StoredInput:
    """A sender's change, with all positions said where the input that it changes is known."""
    if base is None:
        return StoredInput(
            InputKind.LOOSE,
            tuple((placed.at, placed.key) for placed in change.added),
            tuple((placed.at, placed.key) for placed in change.dropped),
        )
    if change.dropped or not adds_at_end(change, len(base)):
        # Compared anew, since one change can be said in several ways.
        return _known(base, apply_change(base, change))
    added = tuple((len(base) + i, placed.key) for i, placed in enumerate(change.added))
    return StoredInput(InputKind.CHANGE, added, (), len(base) + len(added))


def adds_at_end(change: InputChange, size: int) -> bool:
    """Whether each message is added behind all that are there, of which there are
    `size` at first.
    """
    return all(placed.at is None or placed.at >= size + i for i, placed in enumerate(change.added))


def _advance(keys: list[str] | None, entry: StoredInput) -> list[str] | None:
    """The known input after `entry`, made of `keys` in place; None where it is not known."""
    if entry.kind == InputKind.NONE:
        return keys
    if entry.kind == InputKind.LOOSE:
        return None
    if entry.kind == InputKind.WHOLE:
        return [key for _, key in entry.added]
    if keys is None:
        return None
    for at, _ in reversed(entry.dropped):
        del keys[at or 0]
    for at, key in entry.added:
        keys.insert(len(keys) if at is None else at, key)
    return keys
