"""Spans over HTTP: what is taken, in which form it is answered, and bad input of each kind."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import zstandard
from django.db import OperationalError
from django.test import Client

from agentdesk.pipeline import delivery_process
from analysis.models import Verdict
from tests.factories import a_key, a_project
from tests.transcripts.importers.spans.wire import protobuf_of
from transcripts.choices import DeliveryState, KeyScope
from transcripts.models import Delivery, OpenTrace, Project, Run, SpanChunk
from transcripts.selectors.record import run_record

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
DATA = Path(__file__).parents[1] / "data/otlp"
SECRET = "ghp_" + "aB3dE5fG7h" * 3 + "Ij9kLm"


@pytest.fixture
def project() -> Project:
    return a_project()


@pytest.fixture
def client(project: Project) -> Client:
    _, text = a_key(project, KeyScope.INGEST)
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def a_request() -> dict[str, Any]:
    value: dict[str, Any] = json.loads((DATA / "two_tools.json").read_text(encoding="utf-8"))
    return value


def spans_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    spans: list[dict[str, Any]] = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return spans


def send(client: Client, body: Any, media: str = JSON, **headers: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/v1/traces", content, content_type=media, headers=headers)


def process() -> None:
    for delivery in Delivery.objects.filter(state=DeliveryState.ACCEPTED):
        delivery_process(delivery.pk)


@pytest.mark.parametrize("address", ["/v1/traces", "/api/v1/traces"])
@pytest.mark.parametrize("media", [JSON, PROTOBUF])
def test_spans_become_a_run_with_a_verdict(client: Client, address: str, media: str) -> None:
    request = a_request()
    body = protobuf_of(request) if media == PROTOBUF else json.dumps(request).encode()

    answer = client.post(address, body, content_type=media)
    process()

    assert (answer.status_code, answer["Content-Type"]) == (200, media)
    assert answer.content == (b"" if media == PROTOBUF else b"{}")
    run = Run.objects.get()
    assert (run.agent, run.round_count, run.call_count, run.over) == ("helpdesk", 2, 2, True)
    assert Verdict.objects.get(run=run).sentence
    assert Delivery.objects.get().state == DeliveryState.STORED


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [("gzip", gzip.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
def test_packed_bodies_are_taken(client: Client, encoding: str, pack: Any) -> None:
    body = pack(protobuf_of(a_request()))

    answer = send(client, body, PROTOBUF, **{"Content-Encoding": encoding})
    process()

    assert answer.status_code == 200
    assert Run.objects.count() == 1


def test_nothing_unmasked_is_kept_readable(client: Client) -> None:
    request = a_request()
    pairs = spans_of(request)[1]["attributes"]
    (result,) = (pair for pair in pairs if pair["key"].endswith("call.result"))
    result["value"]["stringValue"] = f"token {SECRET}"

    send(client, request)
    process()

    assert SECRET not in repr(run_record(run=Run.objects.get()))
    assert "[SECRET:" in run_record(run=Run.objects.get()).record.rounds[0].calls[0].result
    assert not any(SECRET.encode() in bytes(chunk.body) for chunk in SpanChunk.objects.all())


def test_spans_without_ids_are_told_and_the_others_taken(client: Client) -> None:
    request = a_request()
    spans = spans_of(request)
    spans += [{**spans[1], "spanId": ""}, {**spans[1], "traceId": "0" * 32}]

    as_json = send(client, request)
    as_protobuf = send(client, protobuf_of(request), PROTOBUF)
    process()

    said = as_json.json()["partialSuccess"]
    assert said["rejectedSpans"] == "2"
    assert said["errorMessage"] == "Not taken: 1 without a span id, 1 without a trace id."
    assert b"Not taken: 1 without a span id" in as_protobuf.content
    assert Run.objects.get().round_count == 2


@pytest.mark.parametrize(
    ("body", "media", "status", "words"),
    [
        pytest.param(b"\n\xff\x01ab", PROTOBUF, 400, "breaks off", id="truncated"),
        pytest.param(b"\n\x02\x12", PROTOBUF, 400, "breaks off", id="truncated length"),
        pytest.param(b"\x0b\x02", PROTOBUF, 400, "wire type", id="no protobuf"),
        pytest.param(b'{"resourceSpans": [', JSON, 400, "line 1", id="truncated json"),
        pytest.param(b'{"spans": []}', JSON, 400, "resourceSpans", id="other json"),
        pytest.param(b"[]", JSON, 400, "resourceSpans", id="a list"),
        pytest.param(b"\xff", JSON, 400, "UTF-8", id="no text"),
        pytest.param(b"{}", "text/html", 415, "text/html", id="another type"),
    ],
)
def test_bad_bodies_are_answered_in_kind(
    client: Client, body: bytes, media: str, status: int, words: str
) -> None:
    answer = send(client, body, media)

    assert answer.status_code == status
    if media == PROTOBUF:
        assert answer["Content-Type"] == PROTOBUF
        assert answer.content[:2] == b"\x08\x03"
        assert words.encode() in answer.content
    else:
        assert answer.json()["code"] == 3
        assert words in answer.json()["message"]
    assert not Delivery.objects.exists()


def test_every_cut_of_a_request_is_refused_or_taken_in_part(client: Client) -> None:
    whole = protobuf_of(a_request())

    statuses = {send(client, whole[:end], PROTOBUF).status_code for end in range(1, 400, 7)}

    assert statuses == {400}


def test_bombs_are_refused(client: Client, settings: Any) -> None:
    settings.AGENTDESK_MAX_EXPANDED_BYTES = 100_000
    bomb = gzip.compress(b"\0" * 10_000_000)

    answer = send(client, bomb, PROTOBUF, **{"Content-Encoding": "gzip"})

    assert answer.status_code == 413
    assert answer.content[:2] == b"\x08\x08"


def test_a_key_with_the_scope_is_needed(project: Project) -> None:
    _, reader = a_key(project, KeyScope.READ)

    without = Client().post("/v1/traces", b"{}", content_type=JSON)
    wrong = Client(headers={"Authorization": f"Bearer {reader}"}).post(
        "/v1/traces", b"{}", content_type=JSON
    )
    asked = Client().get("/v1/traces")

    assert (without.status_code, without.json()["code"]) == (401, 16)
    assert (wrong.status_code, wrong.json()["code"]) == (403, 7)
    assert (asked.status_code, asked["Allow"]) == (405, "POST")


def test_a_database_that_is_away_asks_for_another_try(client: Client) -> None:
    with patch("transcripts.otlp.delivery_accept", side_effect=OperationalError):
        answer = send(client, a_request())

    assert (answer.status_code, answer.json()["code"]) == (503, 14)
    assert answer["Retry-After"]


def test_an_empty_request_is_taken_and_kept_nowhere(client: Client) -> None:
    assert send(client, b"\n\x00", PROTOBUF).status_code == 200
    assert send(client, {"resourceSpans": []}).status_code == 200
    assert not Delivery.objects.exists()


def test_odd_spans_still_make_a_run(client: Client) -> None:
    """Ids twice, parents in a cycle, clocks that go backwards, tokens that are no numbers."""
    request = a_request()
    one, look_up, reset, two, agent = spans_of(request)
    one["endTimeUnixNano"] = "1"
    two["startTimeUnixNano"] = str(2**64 - 1)
    agent["parentSpanId"] = reset["spanId"]
    reset["parentSpanId"] = agent["spanId"]
    for pair in one["attributes"]:
        if pair["key"].endswith("input_tokens"):
            pair["value"] = {"doubleValue": "NaN"}
        if pair["key"].endswith("output_tokens"):
            pair["value"] = {"intValue": "-5"}
    spans_of(request).append({**look_up, "name": "other", "attributes": []})

    sent = [send(client, request).status_code, send(client, protobuf_of(request), PROTOBUF)]
    process()

    assert sent[0] == 200
    assert Delivery.objects.filter(state=DeliveryState.STORED).count() == 2
    assert sum(run.round_count for run in Run.objects.all()) == 2


def test_attributes_of_five_megabytes_are_kept(client: Client) -> None:
    request = a_request()
    pairs = spans_of(request)[1]["attributes"]
    (result,) = (pair for pair in pairs if pair["key"].endswith("call.result"))
    result["value"]["stringValue"] = "words and more words " * 250_000

    assert send(client, request).status_code == 200
    process()

    call = run_record(run=Run.objects.get()).record.rounds[0].calls[0]
    assert len(call.result or "") == len(result["value"]["stringValue"])


def test_spans_of_no_agent_are_taken_and_make_no_run(client: Client) -> None:
    request = a_request()
    for span in spans_of(request):
        span["attributes"] = []

    assert send(client, request).status_code == 200
    process()

    assert not Run.objects.exists()
    assert OpenTrace.objects.get().span_count == 5
