"""The calls of a run while it is put together: which there are, and which wait for a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain

from transcripts.importers.drafts import CallPlace, RoundDraft
from transcripts.importers.fields import same_args
from transcripts.importers.turns import Answer, CallDraft

# What spans hold of a result that their recorder left out; what the model read next counts.
LEFT_OUT = ("", "{}", "[]", "null", '""')
# How many of the last calls of a tool are looked at for the one that was executed.
NEARBY = 50
_MCP_MARKS = ("isError", "is_error", "jsonrpc")


class Calls:
    """Finds the call that an answer or an execution belongs to; linear in what it is given."""

    def __init__(self) -> None:
        self._by_id: dict[str, list[CallPlace]] = {}
        self._by_name: dict[str, list[CallPlace]] = {}
        self._by_result: dict[tuple[str, str], CallPlace] = {}
        # Of the last round.
        self._unanswered: list[CallPlace] = []

    def begin(self, draft: RoundDraft) -> None:
        """Take the calls of a new round. Those of the round before are answered by id alone."""
        self._unanswered = []
        for index, call in enumerate(draft.reply.calls):
            place = CallPlace(draft, index)
            self._note(place)
            if call.result is None:
                self._unanswered.append(place)
            else:
                self._note_result(place, call.result)

    def add(self, draft: RoundDraft, call: CallDraft) -> None:
        """Take a further call of the last round."""
        place = CallPlace(draft, len(draft.reply.calls))
        draft.reply.calls.append(call)
        self._unanswered.append(place)
        self._note(place)

    def with_id(self, call_id: str) -> list[CallPlace]:
        """All calls with an id, in order; none for an empty one."""
        return self._by_id.get(call_id, []) if call_id else []

    def with_result(self, answer: Answer) -> CallPlace | None:
        """The first call, of the tool where the answer names one, that has this very result."""
        return self._by_result.get((answer.name, answer.content))

    def executed(self, call_id: str, name: str, args: Sequence[str]) -> CallDraft | None:
        """The call that a tool execution answers: by id, else by name and any of the arguments,
        else of the last round by name.

        An execution may be told twice, by its span and by the next request, so that a call that was
        answered is found by its id all the same.
        """
        if places := self.with_id(call_id):
            return places[-1].call
        calls = [place.call for place in reversed(self._by_name.get(name, [])[-NEARBY:])]
        waiting = [c for c in calls if c.result is None and not (call_id and c.id)]
        for call in waiting:
            if any(same_args(call.args, text) for text in args):
                return call
        last = [place.call for place in self._unanswered]
        named = [call for call in last if call.name == name and not (call_id and call.id)]
        return named[0] if named else None

    def answered_by(self, answer: Answer) -> tuple[CallPlace | None, str]:
        """The call that a tool result answers, and how it was found: by `id`, or, of the last
        round, by `name` or `order`.
        """
        if places := self.with_id(answer.call_id):
            newest = [place for place in places if place.draft is places[-1].draft]
            waiting = [place for place in newest if place.call.result is None]
            return (waiting or newest)[0], "id"
        waiting = [place for place in self._unanswered if not (answer.call_id and place.call.id)]
        if answer.name:
            named = [place for place in waiting if place.call.name == answer.name]
            return (named[0], "name") if named else (None, "")
        return (waiting[0], "order") if waiting else (None, "")

    def place_of(self, call: CallDraft) -> CallPlace | None:
        """Where a call stands, of those that may still be answered: clocks of two processes may
        tell of a tool after the request that read its result.
        """
        recent = self._by_name.get(call.name, [])[-NEARBY:]
        for place in chain(self._unanswered, self.with_id(call.id), recent):
            if place.call is call:
                return place
        return None

    def answer(self, place: CallPlace, answer: Answer, how: str) -> None:
        """Take the result of a call, and `how` it was joined."""
        call = place.call
        call.result = answer.content
        call.is_error = mcp_flag(answer.content) if answer.is_error is None else answer.is_error
        place.draft.reply.opaque += answer.opaque
        call.joined = how
        call.duration_ms = answer.duration_ms if call.duration_ms is None else call.duration_ms
        call.sub_run = call.sub_run or answer.sub_run
        self._unanswered = [each for each in self._unanswered if each != place]
        self._note_result(place, answer.content)

    def _note(self, place: CallPlace) -> None:
        self._by_name.setdefault(place.call.name, []).append(place)
        if place.call.id:
            self._by_id.setdefault(place.call.id, []).append(place)

    def _note_result(self, place: CallPlace, content: str) -> None:
        for name in (place.call.name, ""):
            self._by_result.setdefault((name, content), place)


def mcp_flag(content: str) -> bool | None:
    """The error flag within a result that is a whole answer of MCP: a tool result (`content` list
    and `isError`), by itself or in its JSON-RPC envelope, or a JSON-RPC error.
    """
    if not content.startswith("{") or not any(mark in content for mark in _MCP_MARKS):
        return None
    try:
        result = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if "jsonrpc" in result:
        error = result.get("error")
        if isinstance(error, dict) and "code" in error and "message" in error:
            return True
        result = result.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return None
    flag = result.get("isError", result.get("is_error"))
    return flag if isinstance(flag, bool) else None
