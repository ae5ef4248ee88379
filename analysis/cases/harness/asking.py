"""What an agent function is given."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.cases.harness.clients import AnthropicClient, OpenAIClient
from analysis.cases.harness.inputs import Inputs, shown_results
from analysis.cases.harness.messages import text_of
from analysis.cases.harness.models import with_known
from analysis.cases.harness.reading import (
    CALLS,
    ENDINGS,
    ROUNDS,
    SECONDS,
    HardStop,
    ModelFailed,
    brief,
    call_key,
    canonical,
    cut,
    folded,
)
from analysis.cases.harness.recorded import needles, recorded_inputs, ticket_of
from analysis.cases.harness.replies import Reply, Result, reply_event, reply_of, reply_of_model
from analysis.cases.harness.script import Script
from analysis.cases.harness.tools import RecordedTools, tool_error


@dataclass
class Options:
    """How runs are made. `from_round` N: replies are recorded before N, and `model`'s from N on."""

    rounds: int = ROUNDS
    seconds: float = SECONDS
    model: Callable[..., Any] | None = None
    from_round: int | None = None
    seed: int | None = None
    temperature: float | None = None


class Replay:
    """One run, as the loop under test sees it: ask the model, call tools, say how it ended."""

    def __init__(
        self, case: Mapping[str, Any], emit: Callable[[dict[str, Any]], None], options: Options
    ) -> None:
        self.case = case
        self.run = case["run"]
        self.options = options
        self.round = 0
        self.stopped: HardStop | None = None
        self._inputs = recorded_inputs(self.run)
        self._said = deque(
            m["content"] for added in self._inputs[1:] for m in added if m["role"] == "user"
        )
        self._script = Script(case)
        self._tools = RecordedTools(case)
        self._emit = emit
        self._shown = Inputs(needles(case))
        self._reply: Reply | None = None
        self._made: list[dict[str, Any]] = []
        self._calls = 0
        self._lock = threading.RLock()
        self._owner = os.getpid()
        self._started = time.monotonic()

    # What the record gives to begin with

    def start(self) -> list[dict[str, str]]:
        """The messages of the first round's input; none where the run does not say what it read."""
        return [dict(message) for message in self._inputs[0]]

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self._inputs[0] if m["role"] != "user")

    @property
    def ticket(self) -> str:
        return ticket_of(self.run)

    def person(self) -> str | None:
        """What the person wrote next in the recorded run; None when there was no more."""
        return self._said.popleft() if self._said else None

    @property
    def tools(self) -> Mapping[str, Callable[..., Result]]:
        """The recorded and the mocked tools by name, as functions of keyword arguments."""
        names = [tool["name"] for tool in self.run.get("tools") or [] if "name" in tool]
        replies = [*self.run["rounds"]]
        for branch in self.case.get("branches", []):
            replies.extend(branch["replies"])
        names += [call["name"] for entry in replies for call in entry.get("calls") or []]
        names += [mock["tool"] for mock in self.case.get("mocks", [])]
        return {name: self._tool(name) for name in dict.fromkeys(names)}

    def _tool(self, name: str) -> Callable[..., Result]:
        def tool(*positional: Any, **args: Any) -> Result:
            if len(positional) > 1 or (positional and args):
                raise TypeError(f"{name}: give keyword arguments, or one dict of them")
            return self.call(name, positional[0] if positional else args)

        tool.__name__ = name
        return tool

    # What the loop does

    def ask(self, messages: Sequence[Any], *, system: Any = None, **request: Any) -> Reply:
        """Show the model `messages`, get its next reply.

        Raises ModelFailed where the service failed in the record. The messages may be in OpenAI's
        or Anthropic's shape. What else is given (`tools`, `temperature`, …) reaches a real model.
        """
        with self._lock:
            self._go_on()
            number = self.round + 1
            shown = self._shown.read(messages, system)
            results, new_text = shown_results(shown, self._reply, self._made)
            self._emit(self._shown.event(number, shown, results))
            if number > self.options.rounds:
                self._stop(f"stopped at the limit of {self.options.rounds} rounds")
            self._compare(number, results)
            try:
                source, reply = self._next(number, results, new_text, messages, request)
            except HardStop as stop:
                self.stopped = stop
                raise
            self.round, self._reply, self._made = number, reply, []
            self._emit(reply_event(number, source, reply))
        if reply.error or (reply.stop == "error" and not reply.text and not reply.calls):
            raise ModelFailed(reply.error or "the service failed in this round")
        return reply

    def call(self, name: str, args: Any = None) -> Result:
        """Call a tool as recorded or mocked. Raises ToolFailed where a mock says so, or no such
        call was recorded.
        """
        args = {} if args is None else args
        with self._lock:
            self._go_on()
            self._calls += 1
            if self._calls > CALLS:
                self._stop(f"stopped at the limit of {CALLS} tool calls")
            outcome = self._tools.answer(name, args)
            made = {"e": "call", "round": self.round, "name": name, "args": args, **outcome}
            made["result"] = cut(outcome["result"] or "")
            made["id"], as_asked = self._asked(name, args)
            self._made.append(made)
            self._emit(made)
            if outcome["result"] is None:
                self._stop(f"the record has no answer of {name}, and no further reply")
            if not outcome["recorded"]:
                self._diverged(self.round, "call", "a recorded call", outcome["result"])
                if self.case.get("script", {}).get("unrecorded") == "stop":
                    self._stop(outcome["result"], "stopped")
            elif not as_asked and self._reply is not None:
                asked = ", ".join(f"{c.name} {brief(c.args_text)}" for c in self._reply.calls)
                got = f"{name} {brief(canonical(args))}"
                self._diverged(self.round, "call", asked or "no call", got)
        if outcome["wait"]:
            time.sleep(outcome["wait"])  # outside the lock: calls may run side by side
        if outcome["raises"]:
            raise tool_error(outcome["raises"], outcome["result"])
        return Result(outcome["result"], outcome["is_error"])

    def end(self, ending: str, reason: str = "") -> None:
        """Say how the run ended, where the last reply does not; then return."""
        if ending not in ENDINGS:
            raise ValueError(f"{ending!r} is no ending; there are: {', '.join(ENDINGS)}")
        self._emit({"e": "said", "ending": ending, "reason": cut(str(reason))})

    def openai(self) -> OpenAIClient:
        """A client with `.chat.completions.create`, to be awaited or not, streaming or not."""
        return OpenAIClient(self)

    def anthropic(self) -> AnthropicClient:
        """A client with `.messages.create` and `.messages.stream`, to be awaited or not."""
        return AnthropicClient(self)

    # Inside

    def _go_on(self) -> None:
        if os.getpid() != self._owner:
            raise RuntimeError("a forked copy of the loop cannot ask the model or call tools")
        if self.stopped is not None:
            raise self.stopped
        if time.monotonic() - self._started > self.options.seconds:
            self._stop(f"stopped after {self.options.seconds:g} s")

    def _stop(self, why: str, ending: str = "open") -> None:
        self.stopped = HardStop(why, ending)
        raise self.stopped

    def _next(
        self, number: int, results: list[Any], new_text: str, messages: Any, request: dict[str, Any]
    ) -> tuple[str, Reply]:
        real_from = self.options.from_round
        if self.options.model is not None and real_from is not None and number >= real_from:
            self._script.expected_of = None
            given = {
                "seed": self.options.seed, "temperature": self.options.temperature,
                "round": number, "request": request,
                "tools": self.run.get("tools") or [], **request,
            }  # fmt: skip
            answer = with_known(self.options.model, messages, given)
            return "model", reply_of_model(answer, number)
        source, entry = self._script.next(number, results, new_text)
        return source, reply_of(entry, number)

    def _asked(self, name: str, args: Any) -> tuple[str | None, bool]:
        """(id, exact) of the call in the last reply that this call carries out; None: of none."""
        if self._reply is None:
            return None, False
        taken = {made["id"] for made in self._made}
        free = [c for c in self._reply.calls if c.id not in taken and c.name == name]
        key = call_key(name, args)
        exact = [c for c in free if call_key(c.name, c.args) == key]
        found = (exact or free)[:1]
        return (found[0].id if found else None), bool(exact)

    def _compare(self, number: int, results: list[dict[str, Any]]) -> None:
        """Tell where what the loop shows is not what the record shows."""
        recorded = self._script.expected_of
        if recorded is None:
            return
        shown = {result["id"]: result for result in results}
        calls = recorded.get("calls") or []
        asked = self._reply.calls if self._reply else []
        for call, entry in list(zip(asked, calls)):  # noqa: B905
            expected = entry.get("result")
            if expected is None:
                continue
            what = f"result of {call.name} shown to the model"
            if call.id not in shown:
                self._diverged(number, what, text_of(expected), None)
            elif folded(shown[call.id]["text"]) != folded(text_of(expected)):
                self._diverged(number, what, text_of(expected), shown[call.id]["text"])

    def _diverged(self, number: int, what: str, expected: str, got: str | None) -> None:
        self._emit({"e": "diverged", "round": number, "what": what, "expected": brief(expected),
                    "got": None if got is None else brief(got)})  # fmt: skip
