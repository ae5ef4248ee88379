"""A round as a page shows it: three lanes, in words. Made of `RoundWindow`; no query of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from transcripts.choices import REMOVED, StopReason
from transcripts.json_tree import elements_of, inline_args, json_node
from transcripts.selectors.pages import TOLD_MESSAGES, Cut, RoundWindow

# Characters shown before "show all"; a result that is JSON is folded instead, up to what was
# fetched.
SHOWN = 480
SHOWN_LINES = 8
SHOWN_ARGS = 300
SHOWN_ORPHANS = 5
SHOWN_HEARD = 6
# Elements of a round's JSON results together.
TREE_ELEMENTS = 150
EMPTY_WORDS = {
    "": "an empty string",
    "null": "null",
    '""': "an empty string",
    "{}": "an empty object",
    "[]": "an empty list",
}
STOP_TONES = {
    StopReason.WANTS_TOOL: "quiet",
    StopReason.FINISHED: "good",
    StopReason.CUT_OFF: "bad",
    StopReason.BLOCKED: "bad",
    StopReason.ERROR: "bad",
    StopReason.UNKNOWN: "warn",
}


@dataclass(frozen=True)
class TextCard:
    """A text to show. `part` and `index` name it for "show all"; `more` is how many characters are
    left; `elements` how many its tree takes on a page, where it is JSON.
    """

    text: str
    length: int
    part: str
    index: int | None = None
    is_json: bool = False
    elements: int = 0

    @property
    def more(self) -> int:
        return self.length - len(self.text)


@dataclass(frozen=True)
class CallCard:
    """One call. `state` is `text`, `error`, `empty`, `unanswered` or `removed`; `nothing` says
    which kind of nothing.
    """

    index: int
    name: str
    args: TextCard
    args_inline: str
    state: str
    result: TextCard | None
    nothing: str
    duration_ms: float | None
    sub_run: str


@dataclass(frozen=True)
class MessageCard:
    """A message that came into, or went out of, what the model read. `origin` names a kept text's
    place.
    """

    ident: str
    role: str
    text: TextCard
    origin: str
    is_result: bool = False
    opaque: tuple[str, ...] = ()


@dataclass
class RoundCard:
    """One round of the page. What is left out of it is counted."""

    number: int
    stop: str
    stop_label: str
    stop_tone: str
    stop_raw: str | None
    reply: TextCard | None
    reasoning: TextCard | None
    error: TextCard | None
    calls: tuple[CallCard, ...]
    calls_left_out: int
    heard: tuple[MessageCard, ...]
    dropped_count: int
    gone: str
    tokens_in: int | None
    tokens_out: int | None
    duration_ms: float | None
    orphans: tuple[TextCard, ...]
    opaque: tuple[str, ...]
    has_input: bool
    input_size: int | None
    findings: list[Any] = field(default_factory=list)
    annotations: list[Any] = field(default_factory=list)
    findings_left: int = 0
    annotations_left: int = 0
    heard_left: int = 0


def round_cards(window: RoundWindow, *, live_last: int | None = None) -> list[RoundCard]:
    """The cards of a window. `live_last` is the last round of a run that still goes on: its calls
    wait.
    """
    return [
        _round_card(round_, window, waits=round_["number"] == live_last) for round_ in window.rounds
    ]


def _round_card(round_: dict[str, Any], window: RoundWindow, *, waits: bool) -> RoundCard:
    calls = window.calls.get(round_["number"], [])
    stop = StopReason(round_["stop"])
    heard = _heard(round_, window)
    return RoundCard(
        number=round_["number"],
        stop=stop,
        stop_label=stop.label,
        stop_tone=STOP_TONES[stop],
        stop_raw=round_["stop_raw"],
        reply=_text(round_, "reply"),
        reasoning=_text(round_, "reasoning"),
        error=_text(round_, "error"),
        calls=_folded([call_card(call, waits=waits) for call in calls]),
        calls_left_out=max(0, round_["call_count"] - len(calls)),
        heard=heard[:SHOWN_HEARD],
        heard_left=max(0, len(heard) - SHOWN_HEARD),
        dropped_count=len(round_["dropped"]),
        gone=_gone_words(round_, window),
        tokens_in=round_["tokens_in"],
        tokens_out=round_["tokens_out"],
        duration_ms=round_["duration_ms"],
        orphans=tuple(
            TextCard(
                str(orphan.get("content", ""))[:SHOWN], len(str(orphan.get("content", ""))), ""
            )
            for orphan in round_["orphans"][:SHOWN_ORPHANS]
        ),
        opaque=tuple(str(part) for part in round_["opaque_kinds"]),
        has_input=bool(round_["input_kind"]),
        input_size=round_["input_size"],
    )


def call_card(call: dict[str, Any], *, waits: bool = False) -> CallCard:
    """The card of one row of `ToolCall`. `waits`: an answer may still come."""
    args = Cut(call["args_head"], call["args_length"])
    inline = args.text if args.is_cut else inline_args(args.text)
    result, state, nothing = _result(call, waits=waits)
    return CallCard(
        index=call["index"],
        name=call["name"],
        args=TextCard(args.text[:SHOWN_ARGS], args.length, "args", call["index"], True),
        args_inline=inline if len(inline) <= SHOWN_ARGS else "",
        state=state,
        result=result,
        nothing=nothing,
        duration_ms=call["duration_ms"],
        sub_run=call["sub_run"],
    )


def _folded(calls: list[CallCard]) -> tuple[CallCard, ...]:
    """The calls of one round; results that are JSON are trees as long as there is room for them,
    the others are shown as text.
    """
    room = TREE_ELEMENTS
    made = []
    for call in calls:
        result = call.result
        if result is not None and result.is_json:
            if result.elements > room:
                text = TextCard(head_of(result.text), result.length, "result", result.index)
                call = replace(call, result=text)
            else:
                room -= result.elements
        made.append(call)
    return tuple(made)


def nothing_words(text: str) -> str:
    """Which kind of nothing a result is: "an empty string", "an empty list"; empty when it is
    something.
    """
    stripped = text.strip()
    if not stripped and text:
        return "only white space"
    return EMPTY_WORDS.get(stripped.replace(" ", ""), "") if len(stripped) <= 8 else ""


def head_of(text: str, characters: int = SHOWN) -> str:
    """The head of a text by characters and lines; a few more characters are not worth a click."""
    if len(text) <= characters * 1.15 and text.count("\n") < SHOWN_LINES:
        return text
    lines = text[:characters].split("\n")
    return "\n".join(lines[:SHOWN_LINES])


def _result(call: dict[str, Any], *, waits: bool) -> tuple[TextCard | None, str, str]:
    text, length = call["result_head"], call["result_length"]
    if text is None:
        if call["joined"] == REMOVED:
            return None, "removed", "Its result was removed"
        if waits:
            return None, "waiting", "No answer yet"
        return None, "unanswered", "Unanswered: no result came for this call"
    flagged = call["is_error"]
    nothing = nothing_words(text) if length == len(text) else ""
    if nothing:
        flag = {True: "error flag set", False: "no error flag set"}.get(flagged, "no error flag")
        return None, "error" if flagged else "empty", f"Nothing came back: {nothing}, {flag}"
    node = json_node(text) if length == len(text) else None
    shown = head_of(text) if node is None else text
    elements = elements_of(node) if node else 0
    card = TextCard(shown, length, "result", call["index"], node is not None, elements)
    return card, "error" if flagged else "text", ""


def _text(round_: dict[str, Any], name: str) -> TextCard | None:
    text = round_[f"{name}_head"]
    if not text:
        return None
    return TextCard(head_of(text), round_[f"{name}_length"], name)


def _heard(round_: dict[str, Any], window: RoundWindow) -> tuple[MessageCard, ...]:
    """Messages that came in and are neither a reply nor a result of the run: goal, ticket, later
    words.
    """
    cards = []
    for _, ident in round_["added"][:TOLD_MESSAGES]:
        message = window.messages.get(ident)
        if message and message["reply_of"] is None and message["result_round"] is None:
            cards.append(message_card(message))
    return tuple(cards)


def message_card(message: dict[str, Any], *, shown: int = SHOWN) -> MessageCard:
    """The card of one row of `Message`."""
    origin = ""
    if message["reply_of"] is not None:
        origin = f"said in round {message['reply_of']:,}"
    elif message["result_round"] is not None:
        origin = f"came back in round {message['result_round']:,}"
    text, length = message["content_head"], message["content_length"]
    is_result = message["result_round"] is not None or message["role"] == "tool"
    node = json_node(text) if is_result and length == len(text) else None
    is_json = node is not None
    return MessageCard(
        ident=message["ident"],
        role=message["role"],
        text=TextCard(
            text if is_json else head_of(text, shown),
            length,
            "message",
            None,
            is_json,
            elements_of(node) if node else 0,
        ),
        is_result=is_result,
        origin=origin,
        opaque=tuple(str(part) for part in message["opaque_kinds"]),
    )


def _gone_words(round_: dict[str, Any], window: RoundWindow) -> str:
    """What went out of the input, in words: "the goal, the ticket and rounds 1 to 9"."""
    idents = [ident for _, ident in round_["dropped"][:TOLD_MESSAGES]]
    messages = [window.messages[ident] for ident in idents if ident in window.messages]
    if not messages:
        return ""
    parts: list[str] = []
    if window.goal in idents:
        parts.append("the goal")
    if window.ticket in idents:
        parts.append("the ticket")
    rounds = sorted(
        {
            place
            for message in messages
            for place in (message["reply_of"], message["result_round"])
            if place is not None
        }
    )
    if rounds:
        one = rounds[0] == rounds[-1]
        parts.append(f"round {rounds[0]:,}" if one else f"rounds {rounds[0]:,} to {rounds[-1]:,}")
    if not parts:
        parts.append("earlier messages")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def pretty_json(text: str) -> str:
    """JSON text over several lines, as it is when it is not JSON."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text
