"""Whatever is sent: a problem that says where, or a delivery that does; never a 500, never half a
run.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from agentdesk.pipeline import delivery_process
from tests.factories import a_key, a_project, native_rounds
from transcripts.choices import DeliveryState
from transcripts.models import Delivery, Round, Run, ToolCall

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PROBLEM = "application/problem+json"


@pytest.fixture
def sender() -> Client:
    """A client with a key that may send and read."""
    _, text = a_key(a_project())
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def rounds_with(**fields: Any) -> list[dict[str, Any]]:
    """Rounds of which the second has these fields."""
    rounds = native_rounds()
    rounds[1] |= fields
    return rounds


def a_body(rounds: Any, **fields: Any) -> bytes:
    return json.dumps({"run_id": "bad", "rounds": rounds, **fields}).encode()


REFUSED = {
    "empty body": (b"", 400, ""),
    "white space": (b" \n\t ", 400, ""),
    "not JSON": (b"once upon a time", 400, "line 1"),
    "half a document": (a_body(native_rounds())[:-20], 400, "line 1"),
    "a single value": (b"42", 422, "$"),
    "JSON of another shape": (b'{"some": "thing"}', 422, "$"),
    "a list of numbers": (b"[1, 2]", 422, "$[0]"),
    "a string for a round's number": (a_body(rounds_with(round="two")), 422, "$.rounds[1].round"),
    "a list for a reply": (a_body(rounds_with(reply=[1])), 422, "$.rounds[1].reply"),
    "a negative token count": (a_body(rounds_with(tokens_in=-1)), 422, "$.rounds[1].tokens_in"),
    "a time before the year 1": (
        a_body(rounds_with(started_at="0001-01-01T00:00:00+14:00")),
        422,
        "$.rounds[1].started_at",
    ),
    "an end after the year 9999": (
        a_body(native_rounds(), ended_at="9999-12-31T23:00:00-02:00"),
        422,
        "$.ended_at",
    ),
    "round 0": (a_body(rounds_with(round=0)), 422, "$.rounds[1].round"),
    "a round beyond all columns": (a_body(rounds_with(round=2**63)), 422, "$.rounds[1].round"),
    "10,000 nested brackets": (b"[" * 10_000 + b"]" * 10_000, 422, "$[0]"),
    "nested brackets inside a run": (
        b'{"rounds": [{"round": 1, "calls": [{"name": "x", "args": '
        + b"[" * 10_000
        + b"]" * 10_000
        + b"}]}]}",
        400,
        "line 1",
    ),
    "invalid UTF-8": (
        b'{"run_id": "bad", "rounds": [{"round": 1, "reply": "\xff"}]}',
        400,
        "line 1",
    ),
    "NaN": (b'{"rounds": [{"round": 1, "cost": NaN}]}', 400, "$.rounds[0].cost"),
}


@pytest.mark.parametrize(("body", "status", "at"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused_and_says_where(sender: Client, body: bytes, status: int, at: str) -> None:
    answer = sender.post("/api/v1/runs", body, content_type=JSON)

    assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM)
    problem = answer.json()
    assert problem["status"] == status
    assert at in problem.get("at", "")
    assert problem["detail"]
    assert not Delivery.objects.exists()


SET_ASIDE = {
    "half a line in JSONL": (
        a_body(native_rounds()) + b'\n{"run_id": "half", "rounds": [{"rou',
        "line 2",
        1,
    ),
    "two rounds with one number and other content": (
        a_body([*native_rounds(), {"round": 2, "reply": "Something else."}]),
        "$.rounds[3].round",
        0,
    ),
    "a message key that nothing has": (
        a_body(rounds_with(input={"added": ["nowhere"]})),
        "$.rounds[1].input.added[0]",
        0,
    ),
    "an ending that is none": (a_body(native_rounds(), ending="vanished"), "$.ending", 0),
    "a cost that fits no column": (a_body(rounds_with(cost=1e30)), "$.rounds[1].cost", 0),
    "a duplicate key": (
        b'{"run_id": "bad", "run_id": "worse", "rounds": [{"round": 1, "round": 2}]}',
        "line 1, $.run_id",
        0,
    ),
}


@pytest.mark.parametrize(("body", "at", "runs"), SET_ASIDE.values(), ids=SET_ASIDE.keys())
def test_is_taken_and_told_by_its_delivery(sender: Client, body: bytes, at: str, runs: int) -> None:
    answer = sender.post("/api/v1/runs", body, content_type=JSON)
    assert answer.status_code == 202, answer.content
    delivery_process(answer.json()["receipt"])

    told = sender.get(answer["Location"]).json()

    assert told["state"] == DeliveryState.QUARANTINED
    assert at in told["at"]
    assert told["error"]
    assert bytes(Delivery.objects.get().body) != b""
    assert told["runs_stored"] == Run.objects.count() == runs


STORED = {
    "a gap": a_body([round_ for round_ in native_rounds(5) if round_["round"] != 3]),
    "the same round twice": a_body([*native_rounds(), native_rounds()[0]]),
    "10 MB of one string": a_body(rounds_with(reply="x" * 10_000_000)),
    "NUL characters": a_body(rounds_with(reply="a\0b")),
    "NUL in every name": a_body(native_rounds(), agent="a\0", labels={"a\0": "b\0"}),
    "lone surrogates": a_body(rounds_with(reply="half \ud83d of a pair")),
    "unknown fields": a_body(rounds_with(colour="blue"), mood="good"),
    "markup": a_body(rounds_with(reply="<script>alert(1)</script>{{ 7*7 }}{% now %}")),
    "control and bidi characters": a_body(rounds_with(reply="\x1b[2J\u202egnp.exe\u0007\x7f")),
    "a run id of 1,900 characters": a_body(native_rounds(), run_id="x" * 1_900),
    "names of 20,000 characters": a_body(native_rounds(), agent="a" * 20_000, model="m" * 20_000),
    "a date of the year 1": a_body(native_rounds(), started_at="0001-01-01T00:00:00Z"),
    "no rounds": a_body([]),
    "broken arguments": a_body(rounds_with(calls=[{"name": "x", "args": '{"a": '}])),
}


@pytest.mark.parametrize("body", STORED.values(), ids=STORED.keys())
def test_is_stored_as_it_is(sender: Client, body: bytes) -> None:
    answer = sender.post("/api/v1/runs", body, content_type=JSON)
    assert answer.status_code == 202, answer.content
    delivery_process(answer.json()["receipt"])

    told = sender.get(answer["Location"]).json()

    assert (told["state"], told["problems"]) == (DeliveryState.STORED, [])
    run = Run.objects.get()
    assert run.round_count == Round.objects.filter(run=run).count()
    assert run.call_count == ToolCall.objects.filter(run=run).count()
    address = f"/api/v1/runs/{json.loads(body)['run_id']}"
    for part in ("", "/rounds", "/findings", "/export?as=native"):
        assert sender.get(address + part).status_code == 200


def test_hostile_text_comes_back_as_it_was(sender: Client) -> None:
    reply = "<script>alert(1)</script>{{ 7*7 }} \u202egnp.exe \x1b[2J"
    answer = sender.post("/api/v1/runs", a_body(rounds_with(reply=reply)), content_type=JSON)
    delivery_process(answer.json()["receipt"])

    read = sender.get("/api/v1/runs/bad/rounds").json()

    assert read["rounds"][1]["reply"] == reply


def test_a_gap_is_told(sender: Client) -> None:
    answer = sender.post("/api/v1/runs", STORED["a gap"], content_type=JSON)
    delivery_process(answer.json()["receipt"])

    run = sender.get("/api/v1/runs/bad").json()

    assert run["completeness"]["gaps"] == [[3, 3]]
    assert run["completeness"]["complete"] is False


@pytest.mark.parametrize(
    "authorization",
    [
        pytest.param(None, id="missing"),
        pytest.param("", id="empty"),
        pytest.param("Bearer", id="no token"),
        pytest.param("Bearer agd_wrong", id="unknown"),
        pytest.param("Basic dXNlcjpwYXNz", id="another scheme"),
        pytest.param("Bearer \u00ff\u00fe", id="no ASCII"),
    ],
)
def test_a_bad_key_is_401(authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = Client(headers=headers).post("/api/v1/runs", b"{}", content_type=JSON)

    assert (answer.status_code, answer["Content-Type"]) == (401, PROBLEM)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_too_large_is_413_before_it_is_read(sender: Client, settings: Any) -> None:
    settings.AGENTDESK_MAX_BODY_BYTES = 1000
    answer = sender.post("/api/v1/runs", b"x" * 1001, content_type=JSON)

    assert (answer.status_code, answer["Content-Type"]) == (413, PROBLEM)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_413(sender: Client, settings: Any, encoding: str) -> None:
    import gzip

    import zstandard

    settings.AGENTDESK_MAX_EXPANDED_BYTES = 100_000
    pack = gzip.compress if encoding == "gzip" else zstandard.compress
    bomb = pack(b"0" * 50_000_000)
    assert len(bomb) < 60_000

    answer = sender.post(
        "/api/v1/runs", bomb, content_type=JSON, headers={"Content-Encoding": encoding}
    )

    assert (answer.status_code, answer["Content-Type"]) == (413, PROBLEM)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [slice(0, -5), slice(3, None), slice(0, 12)])
def test_damaged_packing_is_400(sender: Client, encoding: str, cut: slice) -> None:
    import gzip

    import zstandard

    pack = gzip.compress if encoding == "gzip" else zstandard.compress
    answer = sender.post(
        "/api/v1/runs",
        pack(a_body(native_rounds()))[cut],
        content_type=JSON,
        headers={"Content-Encoding": encoding},
    )

    assert (answer.status_code, answer["Content-Type"]) == (400, PROBLEM)


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("get", "/api/v1/nowhere", 404),
        ("get", "/api/v1/", 404),
        ("get", "/api/v1/runs/unknown", 404),
        ("get", "/api/v1/runs/unknown/rounds", 404),
        ("get", "/api/v1/deliveries/00000000-0000-0000-0000-000000000000", 404),
        ("get", "/api/v1/deliveries/not-a-receipt", 404),
        ("delete", "/api/v1/runs", 405),
        ("put", "/api/v1/runs/x/rounds", 405),
        ("get", "/api/v1/runs?limit=0", 422),
        ("get", "/api/v1/runs?limit=many", 422),
        ("get", "/api/v1/runs?cursor=x", 422),
        ("get", "/api/v1/runs?ending=vanished", 422),
        ("get", "/api/v1/runs?agent=%00", 422),
        ("get", "/api/v1/runs?label=x", 422),
        ("get", "/api/v1/runs/%00", 404),
        ("post", "/api/v1/import?format=unknown", 422),
        ("post", "/api/v1/runs/%00/rounds", 400),
        ("post", "/api/v1/runs/%20/end", 400),
    ],
)
def test_other_mistakes_are_problems(
    sender: Client, method: str, address: str, status: int
) -> None:
    options = {"data": b"{}", "content_type": JSON} if method == "post" else {}
    answer = getattr(sender, method)(address, **options)

    assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM)
    assert answer.json()["detail"]


def test_an_unknown_format_is_told_the_known_ones_in_order(sender: Client) -> None:
    answer = sender.post("/api/v1/import?format=zzz", b"{}", content_type=JSON).json()

    named = answer["detail"].removeprefix("format is auto, ").removesuffix(".").split(", ")
    assert "native" in named
    assert named == sorted(named)


def test_another_content_type_is_415(sender: Client) -> None:
    answer = sender.post("/api/v1/runs", b"<run/>", content_type="text/xml")

    assert (answer.status_code, answer["Content-Type"]) == (415, PROBLEM)


def test_a_file_may_have_the_type_that_curl_gives_it(sender: Client) -> None:
    answer = sender.post(
        "/api/v1/import?format=auto",
        b'{"run_id": "as-curl-sends-it", "rounds": [{"round": 1, "stop": "end_turn"}]}',
        content_type="application/x-www-form-urlencoded",
    )

    assert answer.status_code == 202
