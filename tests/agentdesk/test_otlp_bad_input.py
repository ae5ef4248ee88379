"""Spans that are odd, hostile or too many, through the server: what is answered and kept."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

import pytest
import zstandard
from django.test import Client

from tests.agentdesk.test_otlp import JSON, PROTOBUF, a_request, process, send, spans_of
from tests.agentdesk.test_otlp import client as client
from tests.agentdesk.test_otlp import project as project
from tests.transcripts.importers.spans.wire import protobuf_of
from tests.transcripts.services.test_traces_any_order import settle
from transcripts.choices import DeliveryState
from transcripts.importers.spans.span import TOO_DEEP
from transcripts.models import Delivery, Run
from transcripts.record import RunRecord
from transcripts.selectors.record import run_record

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 100_000


def stored() -> RunRecord:
    process()
    settle()
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.STORED}
    return run_record(run=Run.objects.get()).record


def put(span: dict[str, Any], ending: str, value: dict[str, Any]) -> None:
    """Set the attribute whose name ends so."""
    (pair,) = (pair for pair in span["attributes"] if pair["key"].endswith(ending))
    pair["value"] = value


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("zstd", zstandard.ZstdCompressor().compress, id="zstd"),
    ],
)
def test_a_small_body_may_not_unpack_to_a_large_one(
    client: Client, encoding: str, pack: Any
) -> None:
    bomb = pack(b"\n\x00" * 32_000_000)

    answer = send(client, bomb, JSON, **{"Content-Encoding": encoding})

    said = answer.json()
    assert (answer.status_code, said["code"]) == (413, 8)
    assert f"A body of {len(bomb):,} bytes may unpack to up to" in said["message"]
    assert not Delivery.objects.exists()


def test_the_limit_of_a_body_is_said(client: Client, settings: Any) -> None:
    settings.AGENTDESK_MAX_BODY_BYTES = 1_000

    answer = send(client, a_request())

    assert answer.status_code == 413
    assert answer.json()["message"] == "A request may have up to 1,000 bytes. Send it in parts."


def test_an_id_with_two_contents_is_one_span_and_said(client: Client) -> None:
    request = a_request()
    twice = spans_of(request)[1]
    spans_of(request).append({**twice, "name": "again", "endTimeUnixNano": "1"})

    assert send(client, request).content == b"{}"
    run = stored()

    assert len(run.rounds) == 2
    assert any("Span ids with two contents" in note and note.endswith(": 1.") for note in run.notes)


def test_parents_in_a_cycle_are_a_run_all_the_same(client: Client) -> None:
    request = a_request()
    *others, agent = spans_of(request)
    agent["parentSpanId"] = others[0]["spanId"]

    assert send(client, request).status_code == 200
    run = stored()

    assert len(run.rounds) == 2
    assert [call.result is not None for call in run.rounds[0].calls] == [True, True]
    assert "Parents in a cycle, taken for roots: 1." in run.notes


def test_a_clock_that_goes_backwards_gives_no_duration(client: Client) -> None:
    request = a_request()
    first = spans_of(request)[0]
    first["endTimeUnixNano"] = str(int(first["startTimeUnixNano"]) - 5_000_000_000)

    send(client, request)
    run = stored()

    assert [round_.number for round_ in run.rounds] == [1, 2]
    assert run.rounds[0].duration_ms is None
    assert run.rounds[0].started_at is not None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_tokens_that_are_no_number_are_not_known(client: Client, number: str) -> None:
    request = a_request()
    put(spans_of(request)[0], "usage.input_tokens", {"doubleValue": number})

    send(client, request)
    run = stored()

    assert [round_.tokens_in is None for round_ in run.rounds] == [True, False]


@pytest.mark.parametrize("media", [JSON, PROTOBUF])
def test_values_that_are_nested_too_deep_are_cut_and_the_others_kept(
    client: Client, media: str
) -> None:
    value: dict[str, Any] = {"stringValue": "bottom"}
    for _ in range(40):
        value = {"arrayValue": {"values": [value]}}
    request = a_request()
    put(spans_of(request)[1], "call.result", value)
    body = protobuf_of(request) if media == PROTOBUF else request

    assert send(client, body, media).status_code == 200
    run = stored()

    assert TOO_DEEP in str(run.rounds[0].calls[0].result)


def test_a_broken_attribute_is_told_and_the_others_are_stored(client: Client) -> None:
    request = a_request()
    odd = {"key": "Z" * 40, "value": {"stringValue": "Y" * 40}}
    spans_of(request).append(
        {**spans_of(request)[1], "spanId": "ee" * 8, "attributes": [odd], "name": "odd"}
    )
    whole = protobuf_of(request)
    broken = whole.replace(b"\x0a\x28" + b"Y" * 40, b"\x0a\x7f" + b"Y" * 40)
    assert broken != whole

    assert send(client, broken, PROTOBUF).status_code == 200
    process()

    delivery = Delivery.objects.get()
    assert delivery.state == DeliveryState.QUARANTINED
    assert "1 of 6 spans not taken, broken: it breaks off" in delivery.error
    assert Run.objects.get().round_count == 2


def test_half_a_character_is_shown_as_none(client: Client) -> None:
    request = a_request()
    put(spans_of(request)[1], "call.result", {"stringValue": "HALF"})
    body = json.dumps(request).replace("HALF", "\\ud800 and more").encode()

    assert send(client, body, JSON).status_code == 200
    run = stored()

    assert run.rounds[0].calls[0].result == "\ufffd and more"


def test_a_trace_of_100_000_spans_is_one_run(client: Client) -> None:
    """Most of them are infrastructure, as where a framework traces each function."""
    request = a_request()
    root = spans_of(request)[-1]
    plain = [
        {
            "traceId": root["traceId"],
            "spanId": f"{number:016x}",
            "parentSpanId": f"{number - 1:016x}" if number % 500 else root["spanId"],
            "name": "work",
            "startTimeUnixNano": root["startTimeUnixNano"],
            "endTimeUnixNano": root["endTimeUnixNano"],
            "attributes": [],
        }
        for number in range(1, MANY + 1)
    ]
    parts = [plain[at : at + 10_000] for at in range(0, MANY, 10_000)]

    began = time.process_time()
    for part in parts:
        spans_of(request)[:] = part
        assert send(client, protobuf_of(request), PROTOBUF).status_code == 200
    assert send(client, a_request()).status_code == 200
    run = stored()

    assert len(run.rounds) == 2
    assert [note for note in run.notes if note.endswith(f"not shown: {MANY + 1}.")], run.notes
    assert time.process_time() - began < 120
