"""Recorded requests and responses."""

import copy
import json
import os
from pathlib import Path

import pytest

from transcripts.importers import ImportProblem, read_runs
from transcripts.record import Stop, completeness

SHARED = Path(os.environ.get("AGENTDESK_SHARED", Path(__file__).parents[4] / "shared"))
TICKET = {"role": "user", "content": "VPN drops."}


def an_exchange(number, *, history=(), call=None, text=None, finish="stop", **fields):
    message = {"role": "assistant", "content": text}
    if call:
        function = {"name": call, "arguments": "{}"}
        message["tool_calls"] = [{"id": f"c{number}", "type": "function", "function": function}]
    return {
        "round": number,
        "request": {"model": "m", "messages": [TICKET, *history]},
        "response": {"choices": [{"index": 0, "finish_reason": finish, "message": message}]},
        **fields,
    }


def answered(exchange, content):
    call_id = exchange["response"]["choices"][0]["message"]["tool_calls"][0]["id"]
    return {**exchange, "tool_results": [{"tool_call_id": call_id, "content": content}]}


def history_of(*exchanges_and_results):
    history = []
    for exchange, result in exchanges_and_results:
        message = exchange["response"]["choices"][0]["message"]
        history.append(message)
        history.append(
            {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": result}
        )
    return history


def read(value):
    return list(read_runs(json.dumps(value).encode(), default_run_id="r"))


def test_reads_a_run():
    first = an_exchange(1, call="look", finish="tool_calls", duration_ms=5)
    last = an_exchange(2, history=history_of((first, "6 drops")), text="Fixed.")
    (run,) = read({"run_id": "vpn", "ticket_id": "T", "rounds": [answered(first, "6 drops"), last]})

    one, two = run.rounds
    assert (run.format, run.run_id, run.ticket_id, run.provider) == (
        "recorded",
        "vpn",
        "T",
        "openai.chat",
    )
    assert (one.stop, one.stop_raw, one.duration_ms) == (Stop.WANTS_TOOL, "tool_calls", 5)
    assert (one.calls[0].result, one.calls[0].joined, one.calls[0].id) == ("6 drops", "id", "c1")
    assert (two.stop, two.reply) == (Stop.FINISHED, "Fixed.")
    assert [list(keys) for _, keys in run.inputs()] == [
        ["m1.1"],
        ["m1.1", "reply:1", "result:1:0"],
    ]
    assert [message.content for message in run.messages] == ["VPN drops.", "", ""]


def test_finds_results_in_the_next_request():
    first = an_exchange(1, call="look")
    (run,) = read([first, an_exchange(2, history=history_of((first, "6 drops")))])

    assert run.rounds[0].calls[0].result == "6 drops"


def test_reads_exchanges_of_their_own_lines():
    lines = [an_exchange(1, run_id="a"), an_exchange(1, run_id="b"), an_exchange(2, run_id="a")]

    runs = list(read_runs("\n".join(map(json.dumps, lines)).encode()))

    assert [(run.run_id, len(run.rounds)) for run in runs] == [("a", 2), ("b", 1)]


def test_bodies_may_be_text_below_an_http_message():
    exchange = an_exchange(1, text="Hi.")
    wrapped = {
        "request": {"method": "POST", "body": json.dumps(exchange["request"])},
        "response": {"status": 200, "body": json.dumps(exchange["response"])},
    }

    (run,) = read([wrapped])

    assert run.rounds[0].reply == "Hi."
    assert run.messages[0].content == "VPN drops."


def test_a_request_without_a_response_is_a_round_in_error():
    exchange = {**an_exchange(1), "response": None, "error": "connection reset"}

    (run,) = read([exchange])

    assert (run.rounds[0].stop, run.rounds[0].error) == (Stop.ERROR, "connection reset")


def test_an_error_body_is_the_rounds_error():
    body = {"error": {"message": "context length exceeded", "code": 400}}

    (run,) = read([{**an_exchange(1), "response": body}])

    assert run.rounds[0].stop == Stop.ERROR
    assert "context length exceeded" in run.rounds[0].error


def test_a_result_of_no_call_is_an_orphan():
    exchange = {**an_exchange(1), "tool_results": [{"tool_call_id": "zz", "content": "lost"}]}

    (run,) = read([exchange])

    assert completeness(run).orphan_results == 1


def test_an_unanswered_call_stays_unanswered():
    (run,) = read([an_exchange(1, call="look"), an_exchange(2)])

    assert run.rounds[0].calls[0].result is None


def test_the_same_round_twice_is_folded_and_another_is_refused():
    first = an_exchange(1, text="a")
    (run,) = read([first, copy.deepcopy(first)])
    (problem,) = read([first, an_exchange(1, text="b")])

    assert (len(run.rounds), run.received.folded) == (1, 1)
    assert isinstance(problem, ImportProblem)
    assert problem.field == "$.rounds[1].round"


@pytest.mark.parametrize("number", [0, -1, "1", 1.5, True, 10**12])
def test_refuses_what_is_no_round_number(number):
    (problem,) = read([{**an_exchange(1), "round": number}])

    assert problem.field == "$.rounds[0].round"


def test_storage_stays_linear_although_each_request_repeats_all():
    history, exchanges = [], []
    for number in range(1, 101):
        exchange = an_exchange(number, history=list(history), call="look", text=f"Round {number}")
        exchanges.append(answered(exchange, "x" * 1000))
        history += history_of((exchange, "x" * 1000))

    (run,) = read(exchanges)

    assert len(run.messages) == 1 + 2 * 99
    assert sum(len(message.content) for message in run.messages) == len("VPN drops.")
    assert all(len(round_.input.added) <= 2 for round_ in run.rounds)
    assert all(round_.input.dropped == () for round_ in run.rounds)


@pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="the shared cases are not here")
def test_reads_the_vpn_run():
    (run,) = read_runs((SHARED / "cases/vpn/vpn-openai.json").read_bytes())

    inputs = {round_.number: set(keys) for round_, keys in run.inputs()}
    assert len(run.rounds) == 52
    assert {round_.stop for round_ in run.rounds} == {Stop.WANTS_TOOL}
    assert run.rounds[2].calls[0].result == ""
    assert "m1.2" in inputs[39]
    assert "m1.2" not in inputs[40]
    assert (run.ticket_id, run.currency, run.context_window) == ("IT-20931", "INR", 16000)
    assert run.rounds[0].tokens_in == 630
