"""One run, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.cases.harness.reading import ENDINGS, hands_off


@dataclass
class Trace:
    """What happened in one run.

    `rounds` are {"round", "reply", "stop", "calls", "made", …}: `calls` as the model asked for
    them, each with "shown" once its result reached the model, `made` as the loop called tools
    through the replay. `how` is returned, stopped (by the script or a limit), raised, killed or
    crashed.
    """

    rounds: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[list[int]] = field(default_factory=list)
    messages: list[list[str]] = field(default_factory=list)
    holds: list[list[bool]] = field(default_factory=list)
    how: str = ""
    why: str = ""
    ending: str = ""
    reason: str = ""
    final: str = ""
    divergence: dict[str, Any] | None = None
    printed: str = ""
    seconds: float = 0.0

    @property
    def number(self) -> int:
        return self.rounds[-1]["round"] if self.rounds else 0

    @property
    def uses_tools(self) -> bool:
        """Whether the loop calls tools through the replay, so that its calls are known."""
        return any(entry["made"] for entry in self.rounds)

    def take(self, event: dict[str, Any]) -> None:
        kind = event["e"]
        if kind == "reply":
            self.rounds.append({**event, "made": []})
        elif kind == "ask":
            self._take_input(event)
        elif kind == "call" and self.rounds:
            self.rounds[-1]["made"].append(event)
        elif kind == "said":
            self.ending, self.reason = event["ending"], event["reason"]
        elif kind == "diverged" and self.divergence is None:
            self.divergence = {k: v for k, v in event.items() if k != "e"}
        elif kind == "end":
            self.how, self.why = event["how"], event["why"]
            self.seconds, self.final = event["seconds"], event["final"]
            if self.how == "stopped" and event["ending"] != "open":
                self.ending = event["ending"]

    def _take_input(self, event: dict[str, Any]) -> None:
        before = self.inputs[-1] if self.inputs else []
        self.messages.extend(event["messages"])
        self.inputs.append(before[: event["kept"]] + event["added"])
        self.holds.append(event["holds"])
        shown = {result["id"]: result for result in event["results"]}
        for call in self.rounds[-1]["calls"] if self.rounds else []:
            if call["id"] in shown:
                call["shown"] = shown[call["id"]]

    def settle(self, case: Mapping[str, Any]) -> None:
        """Decide the ending where nothing said it, and the divergence that only the end shows."""
        number = self.number
        last = self.rounds[-1] if self.rounds else {}
        script_over = self.how == "stopped" and self.why.endswith("no further reply")
        as_far = last.get("source") == "recorded" and number >= case["run"]["rounds"][-1]["round"]
        recorded_ending = case["run"].get("ending") if as_far else None
        if script_over and not self.ending and ended_as(last)[0] == "handed_off":
            self.ending, self.reason = ended_as(last)  # the recorded run went no further either
        elif script_over and not self.ending and recorded_ending in ("finished", "handed_off"):
            self.ending, self.reason = recorded_ending, "as far as the recorded run went"
        elif self.how in ("stopped", "killed") and self.ending in ("", "open"):
            self.ending, self.reason = "open", f"still going at round {number}: {self.why}"
        elif self.how == "stopped":
            self.reason = self.reason or self.why
        elif self.how in ("raised", "crashed"):
            self.ending, self.reason = "error", self.why
        elif not self.ending:
            self.ending, self.reason = ended_as(last)
        if self.divergence is None and last.get("source") == "recorded":
            self.divergence = self._diverged_at_the_end(case["run"]["rounds"], script_over)

    def _diverged_at_the_end(
        self, recorded: Sequence[Mapping[str, Any]], script_over: bool
    ) -> dict[str, Any] | None:
        goes_on = any(entry["round"] > self.number for entry in recorded)
        if self.how == "returned" and goes_on:
            what, expected = "the loop ended the run", f"round {self.number + 1}"
            got = self.ending.replace("_", " ")
        elif script_over and recorded[-1].get("stop") == "finished":
            what, expected = "the recorded run was finished", "the end"
            got = "another request"
        else:
            return None
        return {"round": self.number, "what": what, "expected": expected, "got": got}


def ended_as(last: Mapping[str, Any]) -> tuple[str, str]:
    """(ending, reason) by the last round, for a loop that returned and said nothing."""
    if not last:
        return "stopped", "the loop returned before it asked the model"
    if last["stop"] != "wants_tool":
        return (last["stop"] if last["stop"] in ENDINGS else "stopped"), ""
    for call in last["calls"]:
        if hands_off(call["name"]):
            return "handed_off", call["name"]
    return "stopped", "the loop returned although the model wanted a tool"
