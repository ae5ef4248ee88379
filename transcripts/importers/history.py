"""The reading of a request that repeats the conversation: which round each of its messages came
from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from transcripts.importers.drafts import RoundDraft
from transcripts.importers.turns import Answer, Reply, Turn
from transcripts.record import Message


class History:
    """Where the reading of a request stands: what is still to come, and which round was passed
    last.
    """

    def __init__(self, turns: Iterable[Turn | Message]) -> None:
        self.draft: RoundDraft | None = None
        self.taken: set[int] = set()
        self._replies: dict[Any, int] = {}
        self._answers: dict[str, int] = {}
        self._left = 0
        for turn in turns:
            if isinstance(turn, Turn):
                if turn.reply is not None:
                    self._left += 1
                    for mark in reply_marks(turn.reply):
                        self._replies[mark] = self._replies.get(mark, 0) + 1
                for answer in turn.answers:
                    self._answers[answer.call_id] = self._answers.get(answer.call_id, 0) + 1

    @property
    def at_the_end(self) -> bool:
        """Whether the last reply of the request is passed."""
        return self._left == 0

    def pass_reply(self, reply: Reply) -> list[int]:
        """How many more replies that say the same follow, by each of its marks."""
        self._left -= 1
        waiting = []
        for mark in reply_marks(reply):
            self._replies[mark] -= 1
            waiting.append(self._replies[mark])
        return waiting

    def pass_answer(self, call_id: str) -> int:
        """How many more answers with this id follow."""
        self._answers[call_id] -= 1
        return self._answers[call_id]

    def call_answered_by(self, answer: Answer) -> int | None:
        """The call of the reply before that an answer belongs to, each call once."""
        for index, call in enumerate(self.draft.reply.calls if self.draft else ()):
            both = bool(answer.call_id and call.id)
            same = call.id == answer.call_id if both else answer.name in ("", call.name)
            if same and index not in self.taken:
                self.taken.add(index)
                return index
        return None


def reply_marks(reply: Reply) -> tuple[Any, Any]:
    """What replies that say the same have in common: with the arguments as written, and without."""
    calls = reply.calls
    exact = (reply.text, tuple((call.id, call.name, call.args) for call in calls))
    return exact, (reply.text, tuple((call.id, call.name) for call in calls))
