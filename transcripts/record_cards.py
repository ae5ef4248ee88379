"""Rounds of a run that stands in no rows, as a page shows them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from transcripts.cards import RoundCard, round_cards
from transcripts.record import Call, Round, RunRecord
from transcripts.selectors.pages import SHOWN_CALLS, SHOWN_CHARACTERS, RoundWindow, TextPlace


def record_cards(record: RunRecord, numbers: Collection[int]) -> dict[int, RoundCard]:
    """The cards of some rounds, by number. What the model read is not told."""
    wanted = [round_ for round_ in record.rounds if round_.number in numbers]
    window = RoundWindow(rounds=[_round_row(round_) for round_ in wanted])
    window.calls = {
        round_.number: [
            _call_row(round_, at, call) for at, call in enumerate(round_.calls[:SHOWN_CALLS])
        ]
        for round_ in wanted
    }
    return {card.number: card for card in round_cards(window)}


def record_text(record: RunRecord, place: TextPlace) -> str | None:
    """One whole text of a round or a call; None where there is none."""
    round_ = next((each for each in record.rounds if each.number == place.number), None)
    if round_ is None:
        return None
    if place.part in ("args", "result"):
        call = round_.calls[place.index] if place.index < len(round_.calls) else None
        return getattr(call, place.part, None)
    return getattr(round_, place.part, None) if place.part != "message" else None


def _round_row(round_: Round) -> dict[str, Any]:
    return {
        "number": round_.number,
        "stop": round_.stop.value,
        "stop_raw": round_.stop_raw,
        "input_kind": "",
        "input_size": None,
        "added": [],
        "dropped": [],
        "tokens_in": round_.tokens_in,
        "tokens_out": round_.tokens_out,
        "duration_ms": round_.duration_ms,
        "orphans": [{"content": orphan.content} for orphan in round_.orphans],
        "opaque_kinds": [part.kind for part in round_.opaque],
        "call_count": len(round_.calls),
        **_head("reply", round_.reply),
        **_head("reasoning", round_.reasoning),
        **_head("error", round_.error),
    }


def _call_row(round_: Round, index: int, call: Call) -> dict[str, Any]:
    return {
        "round_number": round_.number,
        "index": index,
        "name": call.name,
        "is_error": call.is_error,
        "duration_ms": call.duration_ms,
        "joined": call.joined,
        "sub_run": call.sub_run,
        **_head("args", call.args),
        **_head("result", call.result),
    }


def _head(name: str, text: str | None) -> dict[str, Any]:
    """A text cut to what a page shows, and its whole length."""
    head = None if text is None else text[:SHOWN_CHARACTERS]
    return {f"{name}_head": head, f"{name}_length": len(text or "")}
