"""What holds for every run, however odd."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.check import plain_values
from analysis.detectors.limits import Baseline, Limits, RepeatMode
from analysis.suite import CELLS, analyse
from tests.builders import a_run, call
from transcripts.record import (
    Call,
    Ending,
    InputChange,
    Message,
    Orphan,
    Placed,
    Round,
    RunRecord,
    Stop,
    Tool,
)

NAMES = st.sampled_from(
    ["get_user", "set_user", "bash", "think", "submit", "search", "mcp__a__b", "", "ü", "a" * 300]
)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "",
            "null",
            "[]",
            "ok",
            "Error: no",
            "\ud800",
            "\x00",
            '{"error": {"a": [1, null, {"b": "Error: x"}]}}',
            '{"content": [{"type": "text", "text": "denied"}], "isError": false}',
            "<html><title>502</title>",
            "Traceback (most recent call last):\nKeyError: 1",
            '{"a": NaN, "a": 1e999}',
        ]
    ),
)
ARGS = st.one_of(
    st.sampled_from(["{}", "", "{", "null", "[1]", '"x"', '{"page": 1}', '{"id": null}', "1e999"]),
    st.text(max_size=20),
)
CALLS = st.builds(
    Call,
    name=NAMES,
    args=ARGS,
    result=st.none() | TEXTS,
    is_error=st.none() | st.booleans(),
    duration_ms=st.none() | st.floats(0, 1e9),
)
KEYS = st.sampled_from(["s", "u", "v", "a", "gone", "nowhere"])
PLACES = st.builds(Placed, key=KEYS, at=st.none() | st.integers(0, 9))
INPUTS = st.none() | st.builds(
    InputChange,
    added=st.lists(PLACES, max_size=4).map(tuple),
    dropped=st.lists(PLACES, max_size=4).map(tuple),
    whole=st.booleans(),
)
COUNTS = st.none() | st.integers(0, 10**7)
ROUNDS = st.builds(
    Round,
    number=st.just(0),
    stop=st.sampled_from(Stop),
    stop_raw=st.none() | st.sampled_from(["stop", "tool_calls", "eos2", ""]),
    reply=TEXTS,
    calls=st.lists(CALLS, max_size=3).map(tuple),
    input=INPUTS,
    tokens_in=COUNTS,
    tokens_out=COUNTS,
    cost=st.none() | st.just(Decimal("0.5")),
    duration_ms=st.none() | st.floats(0, 1e9),
    error=TEXTS,
    orphans=st.lists(st.builds(Orphan, call_id=st.text(max_size=3), content=TEXTS), max_size=1).map(
        tuple
    ),
)
MESSAGES = (
    Message("s", "system", "goal"),
    Message("u", "user", "ticket"),
    Message("v", "user", "later"),
    Message("a", "assistant", reply_of=1),
)
TOOLS = st.lists(
    st.builds(
        Tool,
        name=NAMES,
        schema=st.sampled_from(
            [
                "",
                "{",
                "[]",
                '{"type": "object", "required": ["id"]}',
                '{"type": 7}',
                '{"$ref": "#"}',
            ]
        ),
    ),
    max_size=2,
)


@st.composite
def runs(draw: st.DrawFn) -> RunRecord:
    made = draw(st.lists(ROUNDS, max_size=9))
    step = draw(st.sampled_from([1, 3]))
    return RunRecord(
        "r",
        rounds=tuple(replace(each, number=1 + n * step) for n, each in enumerate(made)),
        messages=MESSAGES,
        tools=tuple(draw(TOOLS)),
        ending=draw(st.none() | st.sampled_from(Ending)),
        ending_reason=draw(TEXTS),
        context_window=draw(st.none() | st.integers(1, 10_000)),
    )


LIMITS = st.sampled_from(
    [
        Limits(),
        Limits(rounds=1, seconds=0.1, cost=Decimal("0.1"), repeat_mode=RepeatMode.WINDOW),
        Limits(
            repeat_mode=RepeatMode.CONSECUTIVE,
            polled=frozenset({"get_*"}),
            baseline=Baseline(20, 1, 1, Decimal("0.01"), {"bash": 1.0}, frozenset({"bash"})),
        ),
    ]
)


@given(run=runs(), limits=LIMITS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_run_is_read_and_every_finding_has_a_place(run: RunRecord, limits: Limits) -> None:
    analysis = analyse(run, limits)

    assert analysis.errors == {}
    numbers = {each.number: each for each in run.rounds}
    for finding in analysis.findings:
        assert finding.why
        assert finding.cause
        assert finding.fix
        assert finding.brief
        for place in (
            (finding.round, finding.call),
            *((p.round, p.call) for p in finding.evidence),
        ):
            assert place[0] in numbers
            assert place[1] is None or place[1] < len(numbers[place[0]].calls)
        assert finding.to_round is None or finding.to_round >= finding.round
        assert finding.recovered_at is None or finding.recovered_at in numbers
        plain_values(finding.values)
    assert len(analysis.strip) <= CELLS
    assert analysis.verdict.sentence.endswith(".")
    odd = analysis.verdict.first_odd
    assert (odd is not None) == any(each.odd for each in analysis.findings)


@given(run=runs())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_stands_stays_when_the_run_grows(run: RunRecord) -> None:
    """A growing run read in full says the same as the grown one: nothing is carried over."""
    for end in range(len(run.rounds) + 1):
        grown = replace(run, rounds=run.rounds[:end])
        assert analyse(grown) == analyse(replace(grown))


HOSTILE: dict[str, Any] = {
    "one letter": lambda n: "a" * n,
    "spaces": lambda n: " " * n,
    "brackets": lambda n: "[" * n,
    "objects in objects": lambda n: '{"a":' * (n // 5),
    "errors": lambda n: "Error: " * (n // 7),
    "tags": lambda n: "<title>" * (n // 7),
    "negations": lambda n: "no a a a " * (n // 9),
    "dates": lambda n: "2026-03-02 10:00 " * (n // 17),
    "quotes": lambda n: "'a':'" * (n // 5),
    "a long list": lambda n: "[" + "1," * (n // 2) + "1]",
    "Chinese": lambda n: "没有" * (n // 2),
    "lines": lambda n: "\n" * n,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("tool", ["get_user", "set_user", "read_file", "bash"])
def test_time_grows_with_the_text_and_no_faster(kind: str, tool: str) -> None:
    def seconds(size: int) -> float:
        text = HOSTILE[kind](size)
        run = a_run([call(tool, {"x": text}, text)], [call(tool, text, text)], text)
        start = time.process_time()
        analyse(run)
        return time.process_time() - start

    seconds(1_000)

    # Quadratic time would take minutes for a text of this size.
    assert seconds(1_000_000) < 5


def test_time_grows_with_the_rounds_and_no_faster() -> None:
    def seconds(count: int) -> float:
        run = a_run(
            *([call("get_user", {"id": n % 7}, f"user {n}, office {n % 3}")] for n in range(count))
        )
        start = time.process_time()
        analyse(run)
        return time.process_time() - start

    gc.disable()  # a growing heap is collected ever more slowly, whatever the suite does
    try:
        seconds(100)
        few = min(seconds(1_000) for _ in range(2))
        many = seconds(8_000)
    finally:
        gc.enable()

    assert many < 16 * few + 0.5
