"""Puts fragments of one run that came one after the other together, so that they are stored at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transcripts.record import InputChange, Message, Placed, Round, RunRecord
from transcripts.services.content import HEADER_FIELDS


def join_fragments(fragments: Sequence[RunRecord]) -> list[list[int]]:
    """Which fragments can be stored as one, as lists of their indexes; all of them, in order.

    Those that say the same of the run as a whole, whose rounds come one after the other, and whose
    named messages do not differ. Stored as one they leave the rows that they would leave one by
    one.
    """
    groups: list[list[int]] = []
    named: dict[str, Message] = {}
    for index, fragment in enumerate(fragments):
        names = {message.key: message for message in fragment.messages if message.named}
        if not (groups and _follows(fragments[groups[-1][-1]], fragment, named, names)):
            groups.append([])
            named = {}
        groups[-1].append(index)
        named |= names
    return groups


def joined(fragments: Sequence[RunRecord]) -> RunRecord:
    """Fragments that `join_fragments` put into one group, as one. A key that an importer made is
    made another, so that those of two fragments stay apart.
    """
    if len(fragments) == 1:
        return fragments[0]
    rounds: list[Round] = []
    messages: dict[str, Message] = {}
    for index, fragment in enumerate(fragments):
        keys = {m.key: m.key if m.named else f"{index}\x1f{m.key}" for m in fragment.messages}
        rounds += (_with_keys(round_, keys) for round_ in fragment.rounds)
        for message in fragment.messages:
            key = keys[message.key]
            messages.setdefault(key, replace(message, key=key))
    return replace(fragments[0], rounds=tuple(rounds), messages=tuple(messages.values()))


def _follows(
    before: RunRecord, after: RunRecord, named: dict[str, Message], names: dict[str, Message]
) -> bool:
    return (
        bool(before.rounds and after.rounds)
        and before.rounds[-1].number < after.rounds[0].number
        and all(getattr(before, name) == getattr(after, name) for name in HEADER_FIELDS)
        and all(named.get(key, message) == message for key, message in names.items())
    )


def _with_keys(round_: Round, keys: dict[str, str]) -> Round:
    change = round_.input
    if change is None:
        return round_
    return replace(
        round_,
        input=InputChange(
            _renamed(change.added, keys), _renamed(change.dropped, keys), change.whole
        ),
    )


def _renamed(places: tuple[Placed, ...], keys: dict[str, str]) -> tuple[Placed, ...]:
    return tuple(Placed(keys.get(placed.key, placed.key), placed.at) for placed in places)
