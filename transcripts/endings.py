"""How a run ended where its sender does not say, what its ticket is, and its heading."""

from __future__ import annotations

import re
from dataclasses import replace

from transcripts.record import Ending, Message, Round, RunRecord, Stop

TITLE_LENGTH = 120

_BY_STOP = {
    Stop.FINISHED: Ending.FINISHED,
    Stop.WANTS_TOOL: Ending.STOPPED,
    Stop.CUT_OFF: Ending.CUT_OFF,
    Stop.BLOCKED: Ending.BLOCKED,
    Stop.ERROR: Ending.ERROR,
    Stop.UNKNOWN: Ending.STOPPED,
}
# Tools that give the task to a person or another team: the verbs and their objects as agents name
# them.
_HANDS_OFF = re.compile(
    r"^escalation$|(?:^|_)(?:escalate(?:_\w+)?|(?:create|raise|request|open|file)_escalation|hand_?(?:ed_?)?(?:off|over)\w*"
    r"|transfer_(?:call_|chat_|ticket_|customer_|user_)?to(?!_(?:agent_)?account)\w*"
    r"|(?:assign|forward|route|pass)_(?:ticket_)?to_(?:a_)?(?:human|person|agent|team|it|support|staff)\w*"
    r"|(?:request|call|contact|notify|page)_(?:a_)?(?:human|person|operator|on_?call)\w*)$"
)
# Money moves with `transfer_to_…` too.
_MOVES_MONEY = re.compile(r"account|bank|wallet|fund|payment|iban")
# Tools by which an agent says that it is done: all of the name's words are among these.
_FINISH_WORDS = frozenset(
    {
        *("finish", "finished", "done", "final", "submit", "exit", "terminate", "end", "complete"),
        *("completed", "completion", "answer", "task", "run", "conversation", "work", "session"),
        *("result", "solution", "mark", "attempt", "as"),
    }
)
_SAYS_NOTHING = frozenset(
    {
        *("answer", "task", "run", "conversation", "work", "session", "result", "solution"),
        *("mark", "attempt", "as"),
    }
)
_WORD_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_GOAL_ROLES = frozenset({"system", "developer"})


def with_ending(run: RunRecord, *, live: bool) -> RunRecord:
    """The run with an ending and a title; what the sender said stays.

    A run that is not `live` is over, whatever its last reply wanted. A live run is open until its
    sender ends it, unless its last reply finished or handed the task off.
    """
    ending = run.ending or _ending(run, live=live)
    return replace(run, ending=ending, title=run.title or title(run))


def hands_off(name: str) -> bool:
    """Whether a tool of this name gives the task to a person or another team."""
    words = _WORD_EDGE.sub("_", name).strip("_").casefold()
    return bool(_HANDS_OFF.search(words)) and not _MOVES_MONEY.search(words)


def finishes(name: str) -> bool:
    """Whether a tool of this name ends the run: `submit`, `final_answer`, `complete_task`."""
    words = set(_WORD_EDGE.sub("_", name).strip("_").casefold().split("_"))
    return words <= _FINISH_WORDS and not words <= _SAYS_NOTHING


def ticket_keys(run: RunRecord) -> tuple[str, ...]:
    """The keys of the messages that hold the goal and the ticket.

    The first system or developer message and the first user message that a round read, in that
    order; either may be missing.
    """
    goal = next((m.key for m in _read_messages(run) if m.role in _GOAL_ROLES), None)
    ticket = _ticket(run)
    return tuple(key for key in (goal, ticket.key if ticket else None) if key is not None)


def title(run: RunRecord) -> str:
    """The first line of the ticket, cut after a word at TITLE_LENGTH; empty where there is no
    ticket.
    """
    ticket = _ticket(run)
    lines = ticket.content.splitlines() if ticket else []
    line = next((" ".join(line.split()) for line in lines if line.strip()), "")
    if len(line) <= TITLE_LENGTH:
        return line
    cut = line[: TITLE_LENGTH - 1]
    return cut.rpartition(" ")[0].rstrip(" ,;:") + "…" if " " in cut else cut + "…"


def _ending(run: RunRecord, *, live: bool) -> Ending:
    last = run.rounds[-1] if run.rounds else None
    if last is not None and _handed_off(run.rounds):
        return Ending.HANDED_OFF
    if last is not None and last.stop == Stop.WANTS_TOOL and _finished_by_tool(last):
        return Ending.FINISHED
    if live and (last is None or last.stop != Stop.FINISHED):
        return Ending.OPEN
    return _BY_STOP[last.stop] if last is not None else Ending.STOPPED


def _finished_by_tool(last: Round) -> bool:
    return any(finishes(call.name) and call.is_error is not True for call in last.calls)


def _handed_off(rounds: tuple[Round, ...]) -> bool:
    """Whether the run's last calls handed the task off, in its last round or before a closing
    reply.
    """
    last = rounds[-1]
    if not last.calls and last.stop == Stop.FINISHED and len(rounds) > 1:
        last = rounds[-2]
    return any(
        hands_off(call.name) and call.result is not None and call.is_error is not True
        for call in last.calls
    )


def _ticket(run: RunRecord) -> Message | None:
    return next((m for m in _read_messages(run) if m.role == "user" and m.content.strip()), None)


def _read_messages(run: RunRecord) -> list[Message]:
    """What the first round with a known input read, in order; else all, as they came."""
    by_key = run.message_by_key
    for _, keys in run.inputs():
        if keys:
            return [by_key[key] for key in keys if key in by_key]
    return list(run.messages)
