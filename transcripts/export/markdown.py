"""The run as Markdown for people: facts, then round by round what was said, asked and answered.

Every text of the run stands in a fenced block that it cannot close, since it may hold markup of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from transcripts.export.base import Exporter
from transcripts.masking.types import MaskedRun
from transcripts.record import Call, Message, Round, RunRecord

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&])")
_TICKS = re.compile(r"`+")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def markdown_text(run: RunRecord) -> str:
    """The whole run."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: RunRecord) -> Iterator[str]:
    yield f"# {_inline(run.title or run.run_id)}"
    yield ""
    for name, value in _facts(run):
        yield f"- {_inline(name)}: {_inline(value)}"
    by_key = run.message_by_key
    for round_ in run.rounds:
        yield ""
        yield f"## Round {round_.number}: {round_.stop.value.replace('_', ' ')}"
        added = round_.input.added if round_.input else ()
        for message in (by_key[placed.key] for placed in added if placed.key in by_key):
            if message.reply_of is None and message.result_of is None:
                yield from _message(message)
        yield from _round(round_)


def _facts(run: RunRecord) -> Iterator[tuple[str, str]]:
    yield "run", run.run_id
    found = (
        ("ticket", run.ticket_id),
        ("agent", run.agent),
        ("model", run.model),
        ("prompt version", run.prompt_version),
        ("code version", run.code_version),
        ("started", run.started_at.isoformat() if run.started_at else ""),
        ("ended", run.ended_at.isoformat() if run.ended_at else ""),
        ("ending", run.ending.value.replace("_", " ") if run.ending else ""),
        ("reason", run.ending_reason),
        *sorted(run.labels.items()),
    )
    yield from ((name, value) for name, value in found if value)
    yield from (("note", note) for note in run.notes)


def _message(message: Message) -> Iterator[str]:
    yield from _block(f"{message.role} {message.name}".strip(), message.content)


def _round(round_: Round) -> Iterator[str]:
    if round_.error:
        yield from _block("error of the service", round_.error)
    if round_.reasoning:
        yield from _block("reasoning", round_.reasoning)
    if round_.reply:
        yield from _block("reply", round_.reply)
    for call in round_.calls:
        yield from _call(call)
    for orphan in round_.orphans:
        yield from _block("result that answers no call", orphan.content)


def _call(call: Call) -> Iterator[str]:
    yield from _block(f"call {call.name}", call.args)
    if call.result is None:
        yield from ("", f"**{_inline('unanswered')}**")
        return
    flag = {True: "error of", False: "result of", None: "result of"}[call.is_error]
    if call.result:
        yield from _block(f"{flag} {call.name}", call.result)
    else:
        yield from ("", f"**{_inline(f'{flag} {call.name}')}**: empty")


def _block(label: str, text: str) -> Iterator[str]:
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from ("", f"**{_inline(label)}**", "", fence, _seen(text), fence)


def _inline(text: str) -> str:
    """One line of text without markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(_seen(text).split()))


def _seen(text: str) -> str:
    """Control and direction characters as codes, so that nothing is hidden or turned around."""
    return _UNSEEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def _write(run: MaskedRun) -> str:
    return markdown_text(run.record)


EXPORTER = Exporter(
    name="markdown",
    title="Markdown",
    suffix=".md",
    media_type="text/markdown; charset=utf-8",
    write=_write,
    loses=("measures", "dropped", "opaque"),
)
