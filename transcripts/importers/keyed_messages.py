"""The messages of a run by their keys: the same content is one message."""

from __future__ import annotations

from typing import Any

from transcripts.importers.drafts import CallPlace, RoundDraft
from transcripts.importers.turns import Turn
from transcripts.record import Message


class KeyedMessages:
    """Gives each message of a run one key, in the order of first sight."""

    def __init__(self) -> None:
        self._messages: dict[str, Message] = {}
        self._keys: dict[tuple[Any, ...], str] = {}
        self._new_in_round: dict[int, int] = {}

    @property
    def all(self) -> tuple[Message, ...]:
        return tuple(self._messages.values())

    def declare(self, message: Message) -> None:
        """Take a message under the sender's own key."""
        self._messages[message.key] = message

    def keep(self, message: Message) -> None:
        """The same, unless the key is known."""
        self._messages.setdefault(message.key, message)

    def drop_reference(self, key: str) -> None:
        """Forget a message that only repeats a reply or a result; others stay."""
        message = self._messages[key]
        if message.reply_of is not None or message.result_of is not None:
            del self._messages[key]

    def of_turn(self, turn: Turn, call_id: str, *, round_number: int) -> str:
        """The key of a message that is no round's reply and no call's result, first read in this
        round.
        """
        content = (turn.role, turn.text, turn.name, call_id, tuple(turn.opaque))
        key = self._keys.get(content)
        if key is None:
            count = self._new_in_round[round_number] = self._new_in_round.get(round_number, 0) + 1
            key = self._keys[content] = f"m{round_number}.{count}"
            self._messages[key] = Message(
                key, turn.role, turn.text, turn.name, opaque=tuple(turn.opaque), call_id=call_id
            )
        return key

    def of_reply(self, draft: RoundDraft) -> str:
        key = f"reply:{draft.number}"
        if key not in self._messages:
            self._messages[key] = Message(key, "assistant", reply_of=draft.number)
        return key

    def of_result(self, place: CallPlace) -> str:
        number = place.draft.number
        key = f"result:{number}:{place.at}"
        if key not in self._messages:
            self._messages[key] = Message(
                key, "tool", name=place.call.name, result_of=(number, place.at)
            )
        return key
