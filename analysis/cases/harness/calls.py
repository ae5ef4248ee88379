"""The calls that a run made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.cases.harness.reading import READS_FAILED, call_key, is_empty
from analysis.cases.harness.trace import Trace


@dataclass
class Made:
    """A call as made: `text` is the tool's own answer (None: not known), `shown` the model's."""

    round: int
    name: str
    args: Any
    text: str | None
    failed: bool
    raised: bool
    shown: Mapping[str, Any] | None

    @property
    def key(self) -> str:
        return call_key(self.name, self.args)


def calls_made(trace: Trace) -> list[Made]:
    """The calls of a run, in order.

    What the loop called through the replay; for a loop that has its own tools, the calls whose
    results reached the model. A call that the model asked for and the loop refused is none.
    """
    made: list[Made] = []
    through_replay = trace.uses_tools
    for entry in trace.rounds:
        shown = {call["id"]: call.get("shown") for call in entry["calls"]}
        if through_replay:
            for call in entry["made"]:
                failed = bool(call["raises"] or call["is_error"]) or looks_failed(call["result"])
                made.append(
                    Made(entry["round"], call["name"], call["args"], call["result"], failed,
                         bool(call["raises"] or call["is_error"]), shown.get(call["id"]))
                )  # fmt: skip
            continue
        for call in entry["calls"]:
            result = shown[call["id"]]
            if result is not None:
                failed = result["is_error"] or looks_failed(result["text"])
                made.append(
                    Made(entry["round"], call["name"], call["args"], None, failed, False, result)
                )
    return made


def looks_failed(text: str) -> bool:
    """Empty, or it opens like an error. The detectors of Agentdesk know far more forms."""
    return is_empty(text) or bool(READS_FAILED.search(text[:80]))
