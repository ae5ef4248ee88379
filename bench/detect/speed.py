"""How long the suite takes, how it grows with the run, and what hostile text does to it."""

from __future__ import annotations

import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from analysis.suite import analyse
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Placed,
    Round,
    RunLimits,
    RunRecord,
    Stop,
)

ROUND_CHARACTERS = 2000
WORDS = ("order", "customer", "seat", "invoice", "status", "label", "route", "window", "record")


def long_run(rounds: int, seed: int = 1) -> RunRecord:
    """A run of `rounds` rounds of 2 KB: a call with its arguments and a result, inputs logged."""
    rng = random.Random(seed)
    made, messages = [], [Message("system", "system", "You help."), Message("t", "user", "Ticket.")]
    start = datetime(2026, 3, 2, tzinfo=UTC)
    for number in range(1, rounds + 1):
        added = (
            tuple(Placed(m.key) for m in messages)
            if number == 1
            else (Placed(f"a{number - 1}"), Placed(f"r{number - 1}"))
        )
        words = [f"{rng.choice(WORDS)}{rng.randrange(10**4)}" for _ in range(170)]
        rows = [" ".join(words[i : i + 10]) for i in range(0, 170, 10)]
        result = json.dumps({"rows": rows, "total": 17, "page": number})[:ROUND_CHARACTERS]
        if number % 2:
            result = "\n".join(rows)
        call = Call(f"get_record_{number % 7}", f'{{"id": {number}}}', result, False, f"c{number}")
        made.append(
            Round(
                number,
                Stop.WANTS_TOOL,
                "tool_use",
                reply=f"Looking at record {number}.",
                calls=(call,),
                input=InputChange(added),
                tokens_in=500 + number,
                tokens_out=30,
                started_at=start + timedelta(seconds=2 * number),
                duration_ms=1500.0,
            )
        )
        messages.append(Message(f"a{number}", "assistant", reply_of=number))
        messages.append(Message(f"r{number}", "tool", result_of=(number, 0)))
    return RunRecord(
        "long",
        tuple(made),
        tuple(messages),
        agent="long-agent",
        provider="anthropic",
        ending=Ending.STOPPED,
        limits=RunLimits(rounds=rounds + 1),
    )


@dataclass(frozen=True)
class Timing:
    """`milliseconds` of the fastest of `repeats` passes over `size` rounds (or characters)."""

    name: str
    size: int
    milliseconds: float
    repeats: int


def growth(
    sizes: tuple[tuple[int, int], ...] = ((1000, 7), (10_000, 3), (100_000, 1)),
) -> list[Timing]:
    """The suite over ever longer runs; `sizes` are rounds and repeats."""
    analyse(long_run(50))
    timings = []
    for rounds, repeats in sizes:
        run = long_run(rounds)
        timings.append(Timing("rounds", rounds, _fastest(run, repeats), repeats))
    return timings


def _fastest(run: RunRecord, repeats: int) -> float:
    """Milliseconds of one core, whatever else the machine does meanwhile."""
    best = float("inf")
    for _ in range(repeats):
        begun = time.process_time()
        analyse(run)
        best = min(best, time.process_time() - begun)
    return best * 1000


def memory(sizes: tuple[int, ...] = (1000, 10_000)) -> list[tuple[int, int]]:
    """(rounds, peak bytes that the analysis allocates beyond the run)."""
    found = []
    for rounds in sizes:
        run = long_run(rounds)
        tracemalloc.start()
        analyse(run)
        found.append((rounds, tracemalloc.get_traced_memory()[1]))
        tracemalloc.stop()
    return found


SHAPES: dict[str, Callable[[int], Call]] = {
    "one call for ever": lambda n: Call("get_state", '{"id": 7}', "state: waiting"),
    "two calls by turns": lambda n: Call(f"get_{n % 2}", "{}", f"answer {n % 2}"),
    "a poll that moves": lambda n: Call("get_state", '{"id": 7}', f"step {n}"),
    "every call fails": lambda n: Call("get_item", f'{{"id": {n}}}', f"Error: no item {n}"),
    "one error for ever": lambda n: Call("get_item", f'{{"id": {n}}}', "timed out", True),
    "nothing comes back": lambda n: Call("get_item", f'{{"id": {n}}}', ""),
    "pages without end": lambda n: Call("list_items", f'{{"page": {n}}}', f"rows of {n}"),
    "guesses": lambda n: Call("search", f'{{"q": "red door {n}"}}', "See the handbook."),
    "changes that change nothing": lambda n: (
        Call("update_item", f'{{"id": 7, "size": {n}}}', "ok")
        if n % 2
        else Call("get_item", '{"id": 7}', '{"id": 7, "size": 0}')
    ),
    "never answered": lambda n: Call("get_item", f'{{"id": {n}}}', None),
}
"""The n-th call of runs that go wrong in one way all along."""


def loops(small: int = 1000, large: int = 5000) -> Iterator[tuple[str, float, float]]:
    """(what goes wrong in every round, ms for `small` rounds, ms for `large`)."""
    for name, call in SHAPES.items():
        times = [_fastest(_loop(call, rounds), 2) for rounds in (small, large)]
        yield name, times[0], times[1]


def _loop(call: Callable[[int], Call], rounds: int) -> RunRecord:
    """A run of one kind of call; from the third round on each input drops what is older."""
    made = []
    for n in range(1, rounds + 1):
        added = (Placed("s"), Placed("t")) if n == 1 else (Placed(f"r{n - 1}"),)
        dropped = (Placed(f"r{n - 2}", 2),) if n > 2 else ()
        change = InputChange(added, dropped)
        made.append(Round(n, Stop.WANTS_TOOL, calls=(call(n),), reply="Once more.", input=change))
    messages = [Message("s", "system", "You help."), Message("t", "user", "Ticket.")]
    messages += [Message(f"r{n}", "tool", result_of=(n, 0)) for n in range(1, rounds + 1)]
    return RunRecord("loop", tuple(made), tuple(messages), ending=Ending.STOPPED)


HOSTILE = {
    "one letter": "a",
    "spaces": " ",
    "line ends": "\n",
    "opening brackets": "[",
    "objects in objects": '{"error":',
    "tags": "<html><",
    "the word error": "error: ",
    "half a traceback": 'Traceback (most recent call last):\n  File "',
    "quotes and escapes": '\\"',
    "status codes": "HTTP 500 404 ",
    "digits": "1234567890",
    "time stamps": "2026-03-02T10:00:00Z ",
    "identifiers": "0f8fad5b-d9cb-469f-a165-70867728950e ",
    "not found": "not not found ",
    "wide letters": "エラー",
    "combining marks": "é́́",
}


def hostile(characters: int = 200_000) -> Iterator[tuple[str, float, float]]:
    """(text, ms for `characters`, ms for twice as many) of results made of one repeated piece."""
    for name, piece in HOSTILE.items():
        times = []
        for size in (characters, 2 * characters):
            text = (piece * (size // len(piece) + 1))[:size]
            times.append(_fastest(_three_calls(text), 3))
        yield name, times[0], times[1]


def _three_calls(text: str) -> RunRecord:
    calls = (Call("get_page", '{"page": 1}', text), Call("update_page", text, "ok"))
    rounds = (
        Round(1, Stop.WANTS_TOOL, calls=calls[:1]),
        Round(2, Stop.WANTS_TOOL, calls=calls, reply=text),
        Round(3, Stop.FINISHED, reply=text),
    )
    return RunRecord("hostile", rounds, ending=Ending.FINISHED)
