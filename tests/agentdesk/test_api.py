"""The HTTP API: what it takes in and gives out, to whom, and what it leaves in the audit log."""

from __future__ import annotations

import gzip
import json
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
import zstandard
from django.db import OperationalError
from django.test import Client

from agentdesk.pipeline import delivery_process
from tests.factories import a_key, a_project, a_stored_run, native_rounds
from transcripts import queueing
from transcripts.choices import KeyScope
from transcripts.examples import END_EXAMPLE, FILE_EXAMPLE, ROUNDS_EXAMPLE, RUN_EXAMPLE
from transcripts.models import AccessEntry, ApiKey, Delivery, Project, Run
from transcripts.queueing import DELIVER, drain_begins
from transcripts.services import key_revoke

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"


@pytest.fixture
def project() -> Project:
    return a_project()


def a_client(project: Project, *scopes: KeyScope) -> Client:
    _, text = a_key(project, *scopes)
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


@pytest.fixture
def client(project: Project) -> Client:
    return a_client(project)


def taken(answer: Any) -> dict[str, Any]:
    """The answer of an accepted delivery that a worker has processed."""
    assert answer.status_code == 202, answer.content
    delivery_process(answer.json()["receipt"])
    return answer.json()


@pytest.mark.parametrize(
    ("address", "body", "run_id"),
    [
        pytest.param("runs", RUN_EXAMPLE, "vpn-20931", id="a run"),
        pytest.param("runs", {"runs": [RUN_EXAMPLE]}, "vpn-20931", id="runs"),
        pytest.param("runs", [RUN_EXAMPLE], "vpn-20931", id="a list of runs"),
        pytest.param("runs/live/rounds", ROUNDS_EXAMPLE, "live", id="rounds"),
        pytest.param("runs/live/rounds", ROUNDS_EXAMPLE["rounds"][0], "live", id="a round"),
        pytest.param("runs/live/end", END_EXAMPLE, "live", id="an end"),
        pytest.param("import?format=auto", FILE_EXAMPLE, None, id="a file"),
    ],
)
def test_examples_of_the_document_are_stored(
    client: Client, address: str, body: Any, run_id: str | None
) -> None:
    answer = client.post(f"/api/v1/{address}", json.dumps(body), content_type=JSON)
    taken(answer)

    told = client.get(answer["Location"]).json()
    assert (told["state"], told["runs_stored"]) == ("stored", 1)
    assert run_id in (None, told["runs"][0]["run_id"])


def test_lines_of_rounds_are_one_run(client: Client) -> None:
    body = "\n".join(json.dumps(round_) for round_ in native_rounds())
    taken(client.post("/api/v1/runs", body, content_type="application/jsonl"))

    assert client.get("/api/v1/runs").json()["runs"][0]["rounds"] == 3


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_packed_bodies_are_read(client: Client, encoding: str, pack: Any) -> None:
    body = json.dumps(RUN_EXAMPLE).encode()
    headers = {"Content-Encoding": encoding}
    taken(client.post("/api/v1/runs", pack(body[:50]) + pack(body[50:]), JSON, headers=headers))

    assert Delivery.objects.get().size == len(body)
    assert Run.objects.get().run_id == "vpn-20931"


def test_only_the_id_is_queued_after_the_commit(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A sign of its own: tests beside this one share the queue.
    monkeypatch.setattr(queueing, "DRAIN_QUEUED", "agentdesk:drain:test-only-the-id")
    drain_begins()
    with patch("transcripts.queueing.enqueue") as enqueue:
        answer = client.post("/api/v1/runs", json.dumps(RUN_EXAMPLE), content_type=JSON)

    enqueue.assert_called_once_with(DELIVER, answer.json()["receipt"])


def test_a_queue_that_is_away_changes_no_answer(client: Client) -> None:
    with patch("transcripts.queueing.current_app.send_task", side_effect=ConnectionError):
        answer = client.post("/api/v1/runs", json.dumps(RUN_EXAMPLE), content_type=JSON)

    assert answer.status_code == 202


def test_an_idempotency_key_is_respected(client: Client) -> None:
    def send(body: Any) -> Any:
        headers = {"Idempotency-Key": "once"}
        return client.post("/api/v1/runs", json.dumps(body), content_type=JSON, headers=headers)

    first, again, other = send(RUN_EXAMPLE), send(RUN_EXAMPLE), send({**RUN_EXAMPLE, "agent": "x"})

    assert again.json() == {**first.json(), "repeated": True}
    assert other.status_code == 422
    assert other.json()["at"] == "Idempotency-Key"
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize(
    "run_id", ["a/b", "a b", "ä ö", "100%", "?&#", "../up", "x/rounds/y", "[1]", "a+b", "\u202e"]
)
def test_run_ids_may_hold_any_character(client: Client, run_id: str) -> None:
    address = f"/api/v1/runs/{quote(run_id, safe='')}"
    body = json.dumps(ROUNDS_EXAMPLE)
    taken(client.post(f"{address}/rounds", body, content_type=JSON))
    taken(client.post(f"{address}/end", "", content_type=JSON))

    assert client.get(address).json()["run_id"] == run_id
    assert len(client.get(f"{address}/rounds").json()["rounds"]) == 1
    assert client.get(f"{address}/findings").json()["run_id"] == run_id
    assert client.get(f"{address}/export?as=native").json()["run_id"] == run_id


def test_a_run_is_read_with_its_verdict(client: Client) -> None:
    rounds = native_rounds()
    rounds[0]["calls"][0]["result"] = ""
    body = {**RUN_EXAMPLE, "rounds": rounds}
    taken(client.post("/api/v1/runs", json.dumps(body), content_type=JSON))

    run = client.get("/api/v1/runs/vpn-20931").json()
    findings = client.get("/api/v1/runs/vpn-20931/findings").json()["findings"]

    assert run["first_odd_round"]["round"] == 1
    assert run["first_odd_round"]["detector"] == findings[0]["detector"] == "empty_result"
    assert run["labels"] == {"team": "it"}
    assert run["verdict"]


def test_rounds_come_in_pages(client: Client, project: Project) -> None:
    a_stored_run(project, run_id="long", rounds=native_rounds(7))

    first = client.get("/api/v1/runs/long/rounds?limit=3").json()
    last = client.get(f"/api/v1/runs/long/rounds?limit=3&first={first['next'] + 3}").json()

    assert [round_["round"] for round_ in first["rounds"]] == [1, 2, 3]
    assert [round_["round"] for round_ in last["rounds"]] == [7]
    assert last["next"] is None


def test_the_list_is_paged_and_filtered(client: Client, project: Project) -> None:
    for index in range(5):
        a_stored_run(project, run_id=f"r{index}", agent=f"agent {index % 2}", labels={"n": "1"})
    a_stored_run(run_id="of another project", agent="agent 0")

    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"/api/v1/runs?limit=2&cursor={cursor}").json()
        seen += [run["run_id"] for run in page["runs"]]
        cursor = page["next"]
    narrowed = client.get("/api/v1/runs?agent=agent 0&label=n=1&ending=finished").json()

    assert seen == ["r4", "r3", "r2", "r1", "r0"]
    assert [run["run_id"] for run in narrowed["runs"]] == ["r4", "r2", "r0"]


def test_queries_do_not_grow_with_runs(
    client: Client, project: Project, django_assert_num_queries: Any
) -> None:
    for index in range(3):
        a_stored_run(project, run_id=f"r{index}")
    client.get("/api/v1/runs")

    with django_assert_num_queries(2):
        client.get("/api/v1/runs")


def test_a_run_of_another_project_is_not_found(client: Client) -> None:
    a_stored_run(run_id="elsewhere")

    for part in ("", "/rounds", "/findings", "/export"):
        assert client.get(f"/api/v1/runs/elsewhere{part}").status_code == 404


def test_a_delivery_of_another_project_is_not_found(client: Client) -> None:
    answer = a_client(a_project()).post("/api/v1/runs", json.dumps(RUN_EXAMPLE), content_type=JSON)

    assert client.get(answer["Location"]).status_code == 404


@pytest.mark.parametrize(
    ("scope", "method", "address"),
    [
        (KeyScope.INGEST, "get", "runs"),
        (KeyScope.INGEST, "get", "runs/x/rounds"),
        (KeyScope.READ, "post", "runs"),
        (KeyScope.READ, "post", "import"),
        (KeyScope.RESULTS, "get", "runs/x/export"),
    ],
)
def test_a_scope_that_a_key_lacks_is_403(
    project: Project, scope: KeyScope, method: str, address: str
) -> None:
    answer = getattr(a_client(project, scope), method)(f"/api/v1/{address}")

    assert answer.status_code == 403


def test_both_scopes_may_ask_for_a_delivery(project: Project, client: Client) -> None:
    answer = client.post("/api/v1/runs", json.dumps(RUN_EXAMPLE), content_type=JSON)

    for scope in (KeyScope.INGEST, KeyScope.READ):
        assert a_client(project, scope).get(answer["Location"]).status_code == 200


def test_a_revoked_key_is_401(project: Project) -> None:
    key, text = a_key(project)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    assert client.get("/api/v1/runs").status_code == 200

    key_revoke(key=key)

    assert client.get("/api/v1/runs").status_code == 401


def test_a_key_is_stored_hashed_and_its_use_is_noted(project: Project) -> None:
    key, text = a_key(project)
    Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/runs")

    stored = ApiKey.objects.filter(pk=key.pk).values().get()
    assert text not in str(stored)
    assert stored["last_used_at"] is not None


def test_too_many_requests_are_429(client: Client, settings: Any, valkey_server: str) -> None:
    settings.AGENTDESK_KEY_REQUESTS_PER_MINUTE = 2
    answers = [client.get("/api/v1/runs") for _ in range(6)]

    # A minute may end in between, and the count starts anew.
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 2 <= len(refused) <= 4
    assert 1 <= int(refused[0]["Retry-After"]) <= 61
    assert refused[0]["Content-Type"] == "application/problem+json"


def test_each_reading_leaves_a_line(client: Client, project: Project) -> None:
    run = a_stored_run(project, run_id="r")

    client.get("/api/v1/runs/r/rounds", REMOTE_ADDR="192.0.2.9")
    client.get("/api/v1/runs/r/export")

    lines = AccessEntry.objects.order_by("pk")
    assert [(line.action, line.run_pk, line.what) for line in lines] == [
        ("read", run.pk, "r"),
        ("export", run.pk, "r"),
    ]
    assert lines[0].address == "192.0.2.9"
    assert lines[0].api_key_id is not None


def test_what_cannot_be_audited_is_not_read(client: Client, project: Project) -> None:
    a_stored_run(project, run_id="r")
    with patch("transcripts.api.access_record", side_effect=OperationalError("away")):
        answer = client.get("/api/v1/runs/r/rounds")

    assert answer.status_code == 503
    assert "employee" not in answer.content.decode()


def test_a_key_reads_no_restricted_transcript(client: Client, project: Project) -> None:
    a_stored_run(project, run_id="hr", labels={"restricted": "hr"}, title="On my sick leave")

    assert client.get("/api/v1/runs/hr").json()["title"] is None
    for part in ("rounds", "export"):
        assert client.get(f"/api/v1/runs/hr/{part}").status_code == 403
    assert not AccessEntry.objects.exists()


def test_an_error_shows_nothing_of_what_was_sent(client: Client, caplog: Any) -> None:
    with patch("transcripts.api.delivery_accept", side_effect=ValueError("hunter2 is secret")):
        answer = client.post("/api/v1/runs", json.dumps(RUN_EXAMPLE), content_type=JSON)

    assert answer.status_code == 500
    assert "hunter2" not in answer.content.decode()
    assert "hunter2" not in caplog.text


def test_the_document_names_every_address_and_shows_examples() -> None:
    document = Client().get("/api/v1/openapi.json").json()

    assert set(document["paths"]) == {
        "/api/v1/runs",
        "/api/v1/runs/{run_id}",
        "/api/v1/runs/{run_id}/rounds",
        "/api/v1/runs/{run_id}/end",
        "/api/v1/runs/{run_id}/findings",
        "/api/v1/runs/{run_id}/export",
        "/api/v1/runs/{run_id}/case",
        "/api/v1/import",
        "/api/v1/deliveries/{receipt}",
        "/api/v1/incidents",
        "/api/v1/incidents/{number}",
        "/api/v1/cases",
        "/api/v1/cases.zip",
        "/api/v1/cases/{case_id}",
        "/api/v1/cases/{case_id}/results",
        "/v1/traces",
    }
    send = document["paths"]["/api/v1/runs"]["post"]
    assert send["requestBody"]["content"][JSON]["example"] == RUN_EXAMPLE
    assert "NativeRun" in document["components"]["schemas"]
    assert "application/problem+json" in send["responses"]["422"]["content"]


def test_the_documentation_comes_from_here_alone() -> None:
    answer = Client().get("/api/v1/docs")
    policy = answer["Content-Security-Policy"]
    page = answer.content.decode()

    assert "http:" not in page
    assert "https:" not in page
    assert '"validatorUrl": null' in page
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
