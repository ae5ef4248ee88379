"""Trees of spans as nobody sane sends them: deep, in circles, tools within tools without end."""

import pytest

from transcripts.importers.spans.runs import runs_of, trace_of
from transcripts.importers.spans.span import Span

TRACE = "ab" * 16
SPANS = 20_000
HALF = SPANS // 2


def a_span(number, parent, **attributes):
    at = number * 10**9
    parent_id = f"{parent:016x}" if parent else ""
    return Span(TRACE, f"{number:016x}", parent_id, "x", at, at + 5, attributes)


def a_request(number, parent):
    answer = '[{"role":"assistant","parts":[{"type":"text","content":"Done."}]}]'
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": answer}
    return a_span(number, parent, **attributes)


def a_tool(number, parent):
    return a_span(number, parent, **{"gen_ai.operation.name": "execute_tool"})


def rounds_of(spans):
    return [len(run.rounds) for run in runs_of(trace_of(spans), TRACE)]


def test_requests_below_a_deep_chain_are_rounds_of_one_run():
    chain = [a_span(number, number - 1) for number in range(1, HALF)]
    requests = [a_request(number, HALF - 1) for number in range(HALF, SPANS)]

    assert rounds_of(chain + requests) == [len(requests)]


def test_a_cycle_of_parents_ends():
    cycle = [a_span(number, number % HALF + 1) for number in range(1, HALF + 1)]
    requests = [a_request(number, number % HALF + 1) for number in range(HALF + 1, SPANS)]

    assert rounds_of(cycle + requests) == [len(requests)]


@pytest.mark.parametrize("parent", [1, 2])
def test_a_request_that_is_its_own_parent_is_a_round(parent):
    spans = [a_request(1, parent), a_span(2, 1)]

    assert rounds_of(spans) == [1]


def test_tools_within_tools_are_runs_within_runs():
    spans = [
        a_tool(number, number - 1) if number % 2 else a_request(number, number - 1)
        for number in range(1, SPANS // 4)
    ]
    runs = list(runs_of(trace_of(spans), TRACE))

    assert all(len(run.rounds) == 1 for run in runs)
    ids = {run.run_id for run in runs}
    assert all(run.parent_run_id in ids or not run.parent_run_id for run in runs)


def test_one_id_with_two_contents_stands_for_the_one_that_ended_last():
    one, other = a_request(1, 0), a_request(1, 0)
    other.end += 1
    other.name = "later"

    assert trace_of([one, other]).spans == trace_of([other, one]).spans
    (run,) = runs_of(trace_of([one, other]), TRACE)
    assert any("two contents" in note for note in run.notes)
