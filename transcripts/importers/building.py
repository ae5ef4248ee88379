"""Putting a run together from the turns of a conversation, whatever format they came in.

An importer reads its format into `Turn`s and hands them to a `RunBuilder` in one of two ways: one
by one as a growing list, where each reply read all before it (`add`), or request by request, where
each request says what was read (`ask`, then `add` its reply).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from transcripts import stop_reasons
from transcripts.importers.fields import same_args
from transcripts.importers.history import History, RoundDraft, reply_marks
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import (
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
    Round,
    RunRecord,
    Stop,
    Tool,
    diff_inputs,
    tool_call_part,
)

NO_ERROR_FLAG = "This format carries no error flag."
NO_STOP_LABEL = (
    "This format carries no stop label; stop reasons are derived from what the replies hold."
)

NO_REPLY = "Round 1 stands for a reply that is not in this file: results came before any reply."
# What spans hold of a result that their recorder left out; what the model read next counts.
LEFT_OUT = ("", "{}", "[]", "null", '""')
# How many of the last calls of a tool are looked at for the one that was executed.
NEARBY = 50
REPLY_LEFT_OUT = "Replies that were not recorded are taken from the requests after them."
_MCP_MARKS = ("isError", "is_error", "jsonrpc")
_HIDDEN = ("thinking", "redacted_thinking", "reasoning")


class RunBuilder:
    """Collects the rounds and messages of one run; linear in what it is given.

    `growing`: each reply read all that was added before it. Otherwise inputs are known from `ask`
    alone.
    """

    def __init__(self, *, growing: bool = True) -> None:
        self._growing = growing
        self.notes: dict[str, None] = {}
        self._rounds: list[RoundDraft] = []
        self._messages: dict[str, Message] = {}
        self._key_by_message: dict[tuple[Any, ...], str] = {}
        self._new_in_round: dict[int, int] = {}
        self._calls_by_id: dict[str, list[tuple[RoundDraft, int]]] = {}
        self._calls_by_name: dict[str, list[tuple[RoundDraft, int]]] = {}
        self._rounds_by_reply: dict[Any, list[RoundDraft]] = {}
        self._results_by_content: dict[tuple[str, str], tuple[RoundDraft, int]] = {}
        self._unanswered: list[tuple[RoundDraft, int]] = []
        self._grown: list[Placed] = []
        self._forgotten = False
        self._asked: list[str] | None = None
        self._asked_number = 0
        self._ends: list[int] = []
        self._replies: list[int] = []
        self._last_asked: tuple[int, list[str]] = (0, [])

    @property
    def last_number(self) -> int:
        return self._rounds[-1].number if self._rounds else 0

    @property
    def last_reply(self) -> Reply | None:
        return self._rounds[-1].reply if self._rounds else None

    def note(self, text: str) -> None:
        """Say something about the file once."""
        self.notes.setdefault(text)

    def declare(self, message: Message) -> None:
        """Take a message that inputs name by the sender's own key."""
        self._messages[message.key] = message

    def add_round(
        self, reply: Reply, number: int, change: InputChange | None, orphans: Iterable[Orphan] = ()
    ) -> None:
        """Take a round whose input change the sender says; None: as asked, if at all."""
        self._start_round(reply, number)
        if change is not None:
            self._rounds[-1].input = change
        self._rounds[-1].orphans += orphans

    def add(self, turn: Turn, number: int | None = None) -> None:
        """Take the next turn. A reply starts round `number` (the next one where none is given)."""
        for answer in turn.answers:
            self._grown.append(Placed(self._take_answer(answer)))
        if turn.reply is not None:
            self._start_round(turn.reply, number or self.last_number + 1)
        elif turn.text or turn.opaque or not turn.answers:
            self._grown.append(Placed(self._message(turn)))

    def ask(
        self,
        turns: Iterable[Turn | Message],
        number: int | None = None,
        *,
        continues: bool = False,
        kept: int = 0,
    ) -> None:
        """Take the whole input of round `number` (the next one where none is given); its reply is
        added next.

        A message in it stands for itself. Tool results answer the calls of earlier rounds that have
        none yet. `continues`: the input and the reply of the round before come first. `kept`: so
        many turns of the last input, as `repeated` allows, come first.
        """
        ends = self._ends[:kept]
        self._asked = self._last_asked[1][: ends[-1]] if ends else []
        if continues and self._rounds:
            self._asked = [*self._last_asked[1], self._reply_key(self._rounds[-1])]
        self._asked_number = number or self.last_number + 1
        given = list(turns)
        history = History(given)
        for turn in given:
            if isinstance(turn, Message):
                self._messages.setdefault(turn.key, turn)
                self._asked.append(turn.key)
            else:
                self._asked += self._keys_of(turn, history)
            ends.append(len(self._asked))
        replies = [kept + i for i, t in enumerate(given) if isinstance(t, Turn) and t.reply]
        self._replies = [at for at in self._replies if at < kept] + replies
        self._ends = [] if continues else ends

    def repeated(self, count: int) -> int:
        """How many of the first `count` turns of the last input need not be told again where the
        next one begins with them: results come after their reply, so that it ends before one.
        """
        if count > len(self._ends):
            return 0
        return max((at for at in self._replies if at < count), default=count)

    def forget(self) -> None:
        """Say that the next reply no longer reads what came before, as after a compaction."""
        self._grown = []
        self._forgotten = True

    def answer(self, answer: Answer) -> None:
        """Take the result of a call of an earlier reply, where the format keeps it outside the
        messages.
        """
        place, how = self._find_call(answer)
        if place is not None and place[0].reply.calls[place[1]].result is None:
            self._set_result(*place, answer, how)
        elif self._rounds:
            self._rounds[-1].orphans.append(Orphan(answer.call_id, answer.content))

    def open_call(self, call_id: str, name: str, args: Sequence[str]) -> CallDraft | None:
        """The call that a tool execution answers: by id, else by name and any of the arguments,
        else of the last round by name.

        An execution may be told twice, by its span and by the next request, so that a call that was
        answered is found by its id all the same.
        """
        if call_id and call_id in self._calls_by_id:
            draft, index = self._calls_by_id[call_id][-1]
            return draft.reply.calls[index]
        recent = self._calls_by_name.get(name, [])[-NEARBY:]
        calls = [draft.reply.calls[index] for draft, index in reversed(recent)]
        waiting = [c for c in calls if c.result is None and not (call_id and c.id)]
        for call in waiting:
            if any(same_args(call.args, text) for text in args):
                return call
        last = [draft.reply.calls[index] for draft, index in self._unanswered]
        named = [call for call in last if call.name == name and not (call_id and call.id)]
        return named[0] if named else None

    def add_call(self, call: CallDraft) -> None:
        """Take a call of the last round that its reply does not show."""
        draft = self._rounds[-1]
        place = (draft, len(draft.reply.calls))
        draft.reply.calls.append(call)
        self._unanswered.append(place)
        self._note_call(call, place)

    def answer_call(self, call: CallDraft, answer: Answer) -> None:
        """Take what is known of a call's execution; a result that is there stays."""
        call.duration_ms = answer.duration_ms if call.duration_ms is None else call.duration_ms
        call.is_error = answer.is_error if call.is_error is None else call.is_error
        # Clocks of two processes may tell of a tool after the request that read its result.
        recent = self._calls_by_name.get(call.name, [])[-NEARBY:]
        for draft, index in [*self._unanswered, *self._calls_by_id.get(call.id, ()), *recent]:
            if call.result is None and draft.reply.calls[index] is call:
                self._set_result(draft, index, answer, "id" if answer.call_id else "name")
                call.executed = True
                return

    def build(self, run_id: str, **fields: Any) -> RunRecord:
        """The finished run, with notes on what its format does not carry.

        `fields` are those of `RunRecord` that are not rounds, messages or notes.
        """
        calls = [call for draft in self._rounds for call in draft.reply.calls]
        if any(call.result is not None for call in calls) and all(
            call.is_error is None for call in calls
        ):
            self.note(NO_ERROR_FLAG)
        if self._rounds and all(draft.reply.stop_raw is None for draft in self._rounds):
            self.note(NO_STOP_LABEL)
        for how, words in (("name", "by the tool's name"), ("order", "by their order")):
            count = sum(call.joined == how for call in calls)
            if count:
                self.note(f"Results joined to their calls {words}, for want of ids: {count}.")
        replies = [draft.reply for draft in self._rounds]
        fields.setdefault("model", next((r.model for r in replies if r.model), ""))
        fields.setdefault("started_at", next((r.started_at for r in replies if r.started_at), None))
        return self.build_as_said(run_id, **fields)

    def build_as_said(self, run_id: str, **fields: Any) -> RunRecord:
        """The finished run of a format that says all of it."""
        for placed in self._grown:
            # Nothing read the last reply and its results, so they need no message.
            message = self._messages[placed.key]
            if message.reply_of is not None or message.result_of is not None:
                del self._messages[placed.key]
        return RunRecord(
            run_id=run_id,
            rounds=tuple(_frozen(draft) for draft in self._rounds),
            messages=tuple(self._messages.values()),
            notes=(*fields.pop("notes", ()), *self.notes),
            **fields,
        )

    def _start_round(self, reply: Reply, number: int) -> None:
        draft = RoundDraft(number, reply, self._next_input(number))
        self._rounds.append(draft)
        for mark in reply_marks(reply):
            self._rounds_by_reply.setdefault(mark, []).append(draft)
        self._unanswered = []
        for index, call in enumerate(reply.calls):
            self._note_call(call, (draft, index))
            if call.result is None:
                self._unanswered.append((draft, index))
            else:
                self._note_result(draft, index, call.result)
        if not self._growing:
            return
        self._grown = [Placed(self._reply_key(draft))]
        self._grown += [
            Placed(self._result_key(draft, index, call))
            for index, call in enumerate(reply.calls)
            if call.result is not None
        ]

    def _note_call(self, call: CallDraft, place: tuple[RoundDraft, int]) -> None:
        self._calls_by_name.setdefault(call.name, []).append(place)
        if call.id:
            self._calls_by_id.setdefault(call.id, []).append(place)

    def _next_input(self, number: int) -> InputChange | None:
        if self._growing:
            whole = self._forgotten or number != self.last_number + 1
            self._forgotten = False
            return InputChange(tuple(self._grown), whole=whole)
        if self._asked is None:
            return None
        before, previous = self._last_asked
        current, self._asked = self._asked, None
        self._last_asked = (number, current)
        if before != number - 1 or (number > 1 and not previous):
            return InputChange(tuple(Placed(key) for key in current), whole=number > 1)
        return diff_inputs(previous, current)

    def _message(self, turn: Turn, call_id: str = "") -> str:
        """The key of a message that is no round's reply and no call's result; the same content is
        one message.
        """
        content = (turn.role, turn.text, turn.name, call_id, tuple(turn.opaque))
        key = self._key_by_message.get(content)
        if key is None:
            number = self.last_number + 1 if self._growing else self._asked_number
            self._new_in_round[number] = self._new_in_round.get(number, 0) + 1
            key = f"m{number}.{self._new_in_round[number]}"
            self._key_by_message[content] = key
            self._messages[key] = Message(
                key, turn.role, turn.text, turn.name, opaque=tuple(turn.opaque), call_id=call_id
            )
        return key

    def _reply_key(self, draft: RoundDraft) -> str:
        key = f"reply:{draft.number}"
        if key not in self._messages:
            self._messages[key] = Message(key, "assistant", reply_of=draft.number)
        return key

    def _result_key(self, draft: RoundDraft, index: int, call: CallDraft) -> str:
        key = f"result:{draft.number}:{index}"
        if key not in self._messages:
            place = (draft.number, index)
            self._messages[key] = Message(key, "tool", name=call.name, result_of=place)
        return key

    def _keys_of(self, turn: Turn, history: History) -> list[str]:
        keys = [self._earlier_answer(answer, history) for answer in turn.answers]
        if turn.reply is not None:
            self._learn_reply(turn.reply)
            keys.append(self._earlier_reply(turn, history))
        elif turn.text or turn.opaque or not turn.answers:
            keys.append(self._message(turn))
        return keys

    def _learn_reply(self, reply: Reply) -> None:
        """Take a reply that was not recorded from the request after it, where it comes after all
        that its round read.
        """
        number, before = self._last_asked
        if not self._rounds or not before or self._asked_number != number + 1:
            return
        last = self._rounds[-1]
        if last.number != number or not _left_out(last.reply) or self._asked != before:
            return
        if (reply.calls and last.reply.calls) or not (reply.text or reply.calls):
            return
        last.reply.text = reply.text
        for call in reply.calls:
            self.add_call(call)
        for mark in reply_marks(reply):
            self._rounds_by_reply.setdefault(mark, []).append(last)
        self.note(REPLY_LEFT_OUT)

    def _earlier_reply(self, turn: Turn, history: History) -> str:
        """The key of a reply within a request: the round it came from, where it says the same.

        Of rounds that said the same, the last one is meant by the last such reply in the request.
        """
        reply = turn.reply
        assert reply is not None
        waiting = history.pass_reply(reply)
        found = None
        for mark, left in zip(reply_marks(reply), waiting, strict=True):
            drafts = self._rounds_by_reply.get(mark, [])
            aligned = drafts[max(0, len(drafts) - 1 - left)] if drafts else None
            if found is None and aligned is not None and _same_args(aligned.reply, reply):
                found = aligned
        history.draft, history.taken = found, set()
        if found is not None:
            return self._reply_key(found)
        parts = [tool_call_part(call.id, call.name, call.args) for call in reply.calls]
        return self._message(
            Turn("assistant", reply.text, turn.name, opaque=[*parts, *_shown(reply.opaque)])
        )

    def _take_answer(self, answer: Answer) -> str:
        """Join an answer of a growing list to its call and give its message key."""
        place, how = self._find_call(answer)
        if place is not None:
            return self._join(place, answer, how)
        if not self._rounds:
            self.note(NO_REPLY)
            self._start_round(Reply(stop=Stop.UNKNOWN), 1)
        self._rounds[-1].orphans.append(Orphan(answer.call_id, answer.content))
        return self._message(Turn("tool", answer.content, answer.name), answer.call_id)

    def _earlier_answer(self, answer: Answer, history: History) -> str:
        """The key of an answer within a request: of the reply before it, where that is a round's.

        Else by its id; some services use ids again, so that the last answer in a request belongs
        to the last call of that id. Without an id, an answer after the last reply answers an open
        call.
        """
        waiting = history.pass_answer(answer.call_id)
        if (index := history.call_answered_by(answer)) is not None and history.draft:
            how = "id" if answer.call_id else "name" if answer.name else "order"
            return self._join((history.draft, index), answer, how)
        places = self._calls_by_id.get(answer.call_id, []) if answer.call_id else []
        if waiting < len(places):
            return self._join(places[-1 - waiting], answer, "id")
        if history.at_the_end and not places:
            place, how = self._find_call(answer)
            if place is not None:
                return self._join(place, answer, how)
        known = self._results_by_content.get((answer.name, answer.content))
        if known is not None and not answer.call_id:
            return self._result_key(*known, known[0].reply.calls[known[1]])
        return self._message(Turn("tool", answer.content, answer.name), answer.call_id)

    def _join(self, place: tuple[RoundDraft, int], answer: Answer, how: str) -> str:
        """Answer a call that has no result yet; the message's key, of the result where it says the
        same.
        """
        draft, index = place
        call = draft.reply.calls[index]
        left_out = call.executed and call.result in LEFT_OUT and answer.content not in LEFT_OUT
        if call.result is None or left_out:
            flag = call.is_error
            self._set_result(draft, index, answer, how)
            call.is_error = flag if call.is_error is None else call.is_error
            call.executed = False
        if call.result == answer.content:
            return self._result_key(draft, index, call)
        return self._message(Turn("tool", answer.content, answer.name), answer.call_id)

    def _find_call(self, answer: Answer) -> tuple[tuple[RoundDraft, int] | None, str]:
        if answer.call_id and (places := self._calls_by_id.get(answer.call_id)):
            newest = [p for p in places if p[0] is places[-1][0]]
            open_ = [p for p in newest if p[0].reply.calls[p[1]].result is None]
            return (open_ or newest)[0], "id"
        open_calls = [
            place
            for place in self._unanswered
            if not (answer.call_id and place[0].reply.calls[place[1]].id)
        ]
        if answer.name:
            named = [p for p in open_calls if p[0].reply.calls[p[1]].name == answer.name]
            return (named[0], "name") if named else (None, "")
        return (open_calls[0], "order") if open_calls else (None, "")

    def _set_result(self, draft: RoundDraft, index: int, answer: Answer, how: str) -> None:
        call = draft.reply.calls[index]
        call.result = answer.content
        call.is_error = mcp_flag(answer.content) if answer.is_error is None else answer.is_error
        draft.reply.opaque += answer.opaque
        call.joined = how
        call.duration_ms = answer.duration_ms if call.duration_ms is None else call.duration_ms
        call.sub_run = call.sub_run or answer.sub_run
        self._unanswered = [p for p in self._unanswered if p != (draft, index)]
        self._note_result(draft, index, answer.content)

    def _note_result(self, draft: RoundDraft, index: int, content: str) -> None:
        call = draft.reply.calls[index]
        for name in (call.name, ""):
            self._results_by_content.setdefault((name, content), (draft, index))


def _shown(parts: list[Opaque]) -> list[Opaque]:
    """Without a reply's hidden parts: services send them back or leave them out as they like."""
    return [part for part in parts if not part.kind.startswith(_HIDDEN)]


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


def _left_out(reply: Reply) -> bool:
    """Whether the reply was not recorded, rather than empty: nothing at all is known of it."""
    said = (reply.text, reply.stop_raw, reply.tokens_out, reply.error, reply.opaque)
    return not any(said) and not any(call.shown for call in reply.calls)


def _same_args(left: Reply, right: Reply) -> bool:
    # Calls may have been added to the reply of a round since.
    shown = [call for call in left.calls if call.shown]
    pairs = zip(shown, right.calls, strict=False)
    return len(shown) == len(right.calls) and all(same_args(a.args, b.args) for a, b in pairs)


def _frozen(draft: RoundDraft) -> Round:
    reply = draft.reply
    stop = reply.stop or stop_reasons.decide(
        reply.stop_raw,
        provider=reply.provider,
        wants_tool=any(not call.server_side for call in reply.calls),
        refused=reply.refused,
    )
    if reply.error and reply.stop is None and reply.stop_raw is None and not reply.refused:
        stop = Stop.ERROR
    return Round(
        number=draft.number,
        stop=stop,
        stop_raw=reply.stop_raw,
        reply=reply.text,
        reasoning=reply.reasoning,
        calls=tuple(call.frozen() for call in reply.calls),
        input=draft.input,
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        tokens_cached=reply.tokens_cached,
        tokens_reasoning=reply.tokens_reasoning,
        cost=reply.cost,
        model=reply.model,
        started_at=reply.started_at,
        duration_ms=reply.duration_ms,
        error=reply.error,
        orphans=tuple(draft.orphans),
        opaque=tuple(reply.opaque),
        key=reply.key,
    )


def tools_of(names: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools offered, each name once, in order of first offer."""
    return tuple({tool.name: tool for tool in reversed(names)}.values())[::-1]
