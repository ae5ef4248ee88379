"""The scripted model."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.cases.harness.messages import text_of
from analysis.cases.harness.reading import HardStop, folded, is_empty


class Script:
    """Hands out replies: those of a branch that applies, else the recorded ones."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.rounds: Sequence[Mapping[str, Any]] = case["run"]["rounds"]
        script = case.get("script", {})
        self.by_match = script.get("replies", "in_order") == "by_match"
        self.stops = script.get("otherwise", "next") == "stop"
        self.branches = list(case.get("branches", []))
        self.queue: deque[Mapping[str, Any]] = deque()
        self.at: int = 0
        self.used: set[int] = set()
        self.over = ""
        self.expected_of: Mapping[str, Any] | None = None  # the recorded round given last

    def next(self, number: int, shown: list[dict[str, Any]], new_text: str) -> tuple[str, Any]:
        """(source, entry) of the reply to round `number`; HardStop where the script is over."""
        if not self.queue:
            self.take_branch(number, shown, new_text)
        if self.queue:
            self.expected_of = None
            return "branch", self.queue.popleft()
        if self.over:
            raise HardStop(self.over)
        position = self.position(shown)
        if position >= len(self.rounds):
            raise HardStop("the script has no further reply")
        self.used.add(position)
        self.at = position + 1
        self.expected_of = self.rounds[position]
        return "recorded", self.rounds[position]

    def take_branch(self, number: int, shown: list[dict[str, Any]], new_text: str) -> None:
        for at, branch in enumerate(self.branches):
            if applies(branch["when"], number, shown, new_text):
                del self.branches[at]
                self.queue.extend(branch["replies"])
                if branch.get("then", "end") == "end":
                    self.over = "the branch has no further reply"
                return

    def position(self, shown: list[dict[str, Any]]) -> int:
        """Where the next reply stands; HardStop where nothing matches and the case says to stop."""
        if not self.by_match:
            return self.at
        seen = [(s["name"], folded(s["text"])) for s in shown]
        order: list[int] = [*range(self.at, len(self.rounds)), *range(self.at)]
        for position in order:
            if position not in self.used and self.shown_before(position) == seen:
                return position
        if self.stops:
            raise HardStop("no recorded reply matches what the model is shown", "stopped")
        return self.at

    def shown_before(self, position: int) -> list[tuple[str, str]]:
        calls = self.rounds[position - 1].get("calls") or [] if position else []
        return [(call["name"], folded(text_of(call.get("result")))) for call in calls]


def applies(when: Mapping[str, Any], number: int, shown: list[Any], new_text: str) -> bool:
    """Whether a branch's condition holds for what round `number` newly shows the model."""
    if "round" in when and when["round"] != number:
        return False
    tool = when.get("result_of")
    results = [s for s in shown if tool is None or s["name"] == tool]
    if tool is not None and not results:
        return False
    texts = [s["text"] for s in results] + ([new_text] if tool is None else [])
    if "contains" in when:
        wanted = folded(when["contains"]).casefold()
        if not any(wanted in folded(text).casefold() for text in texts):
            return False
    if "matches" in when and not any(re.search(when["matches"], text) for text in texts):
        return False
    if "empty" in when and not any(is_empty(s["text"]) == when["empty"] for s in results):
        return False
    return "error" not in when or any(s["is_error"] == when["error"] for s in results)
