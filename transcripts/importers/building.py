"""Putting a run together from the turns of a conversation, whatever format they came in.

An importer reads its format into `Turn`s and hands them to a `RunBuilder` in one of two ways: one
by one as a growing list, where each reply read all before it (`add`), or request by request, where
each request says what was read (`ask`, then `add` its reply).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from transcripts.importers.calls import LEFT_OUT, Calls
from transcripts.importers.drafts import CallPlace, RoundDraft
from transcripts.importers.fields import same_args
from transcripts.importers.history import History, reply_marks
from transcripts.importers.keyed_messages import KeyedMessages
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import (
    InputChange,
    Message,
    Opaque,
    Orphan,
    Placed,
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
REPLY_LEFT_OUT = "Replies that were not recorded are taken from the requests after them."
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
        self._messages = KeyedMessages()
        self._calls = Calls()
        self._rounds_by_reply: dict[Any, list[RoundDraft]] = {}
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
        self._messages.declare(message)

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
            self._asked = [*self._last_asked[1], self._messages.of_reply(self._rounds[-1])]
        self._asked_number = number or self.last_number + 1
        given = list(turns)
        history = History(given)
        for turn in given:
            if isinstance(turn, Message):
                self._messages.keep(turn)
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
        place, how = self._calls.answered_by(answer)
        if place is not None and place.call.result is None:
            self._calls.answer(place, answer, how)
        elif self._rounds:
            self._rounds[-1].orphans.append(Orphan(answer.call_id, answer.content))

    def open_call(self, call_id: str, name: str, args: Sequence[str]) -> CallDraft | None:
        """The call that a tool execution answers (`Calls.executed`)."""
        return self._calls.executed(call_id, name, args)

    def add_call(self, call: CallDraft) -> None:
        """Take a call of the last round that its reply does not show."""
        self._calls.add(self._rounds[-1], call)

    def answer_call(self, call: CallDraft, answer: Answer) -> None:
        """Take what is known of a call's execution; a result that is there stays."""
        call.duration_ms = answer.duration_ms if call.duration_ms is None else call.duration_ms
        call.is_error = answer.is_error if call.is_error is None else call.is_error
        if call.result is None and (place := self._calls.place_of(call)) is not None:
            self._calls.answer(place, answer, "id" if answer.call_id else "name")
            call.executed = True

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
            self._messages.drop_reference(placed.key)
        return RunRecord(
            run_id=run_id,
            rounds=tuple(draft.frozen() for draft in self._rounds),
            messages=self._messages.all,
            notes=(*fields.pop("notes", ()), *self.notes),
            **fields,
        )

    def _start_round(self, reply: Reply, number: int) -> None:
        draft = RoundDraft(number, reply, self._next_input(number))
        self._rounds.append(draft)
        for mark in reply_marks(reply):
            self._rounds_by_reply.setdefault(mark, []).append(draft)
        self._calls.begin(draft)
        if not self._growing:
            return
        self._grown = [Placed(self._messages.of_reply(draft))]
        self._grown += [
            Placed(self._messages.of_result(CallPlace(draft, index)))
            for index, call in enumerate(reply.calls)
            if call.result is not None
        ]

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
        number = self.last_number + 1 if self._growing else self._asked_number
        return self._messages.of_turn(turn, call_id, round_number=number)

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
            return self._messages.of_reply(found)
        parts = [tool_call_part(call.id, call.name, call.args) for call in reply.calls]
        return self._message(
            Turn("assistant", reply.text, turn.name, opaque=[*parts, *_shown(reply.opaque)])
        )

    def _take_answer(self, answer: Answer) -> str:
        """Join an answer of a growing list to its call and give its message key."""
        place, how = self._calls.answered_by(answer)
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
            return self._join(CallPlace(history.draft, index), answer, how)
        places = self._calls.with_id(answer.call_id)
        if waiting < len(places):
            return self._join(places[-1 - waiting], answer, "id")
        if history.at_the_end and not places:
            place, how = self._calls.answered_by(answer)
            if place is not None:
                return self._join(place, answer, how)
        known = None if answer.call_id else self._calls.with_result(answer)
        if known is not None:
            return self._messages.of_result(known)
        return self._message(Turn("tool", answer.content, answer.name), answer.call_id)

    def _join(self, place: CallPlace, answer: Answer, how: str) -> str:
        """Answer a call that has no result yet; the message's key, of the result where it says the
        same.
        """
        call = place.call
        left_out = call.executed and call.result in LEFT_OUT and answer.content not in LEFT_OUT
        if call.result is None or left_out:
            flag = call.is_error
            self._calls.answer(place, answer, how)
            call.is_error = flag if call.is_error is None else call.is_error
            call.executed = False
        if call.result == answer.content:
            return self._messages.of_result(place)
        return self._message(Turn("tool", answer.content, answer.name), answer.call_id)


def _shown(parts: list[Opaque]) -> list[Opaque]:
    """Without a reply's hidden parts: services send them back or leave them out as they like."""
    return [part for part in parts if not part.kind.startswith(_HIDDEN)]


def _left_out(reply: Reply) -> bool:
    """Whether the reply was not recorded, rather than empty: nothing at all is known of it."""
    said = (reply.text, reply.stop_raw, reply.tokens_out, reply.error, reply.opaque)
    return not any(said) and not any(call.shown for call in reply.calls)


def _same_args(left: Reply, right: Reply) -> bool:
    # Calls may have been added to the reply of a round since.
    shown = [call for call in left.calls if call.shown]
    pairs = zip(shown, right.calls, strict=False)
    return len(shown) == len(right.calls) and all(same_args(a.args, b.args) for a, b in pairs)


def tools_of(names: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools offered, each name once, in order of first offer."""
    return tuple({tool.name: tool for tool in reversed(names)}.values())[::-1]
