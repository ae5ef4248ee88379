"""Starting peers, and the same run in the shape that each of them takes."""

import json
import sys
from pathlib import Path

import pytest

from bench.otlp.load import BATCH
from bench.otlp.sending import SendError, Target, send
from bench.pages.runs import TICKET, a_long_record, reply_of
from bench.peers import running as peers
from bench.peers.inspect_view import run_of
from bench.peers.running import AwayError, Peer, running
from bench.peers.spans import requests_of, spans_of
from transcripts.importers import read_runs

SERVER = """
import http.server, sys
place = ("127.0.0.1", int(sys.argv[1]))
http.server.HTTPServer(place, http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def a_peer(*command: str, ready: str = "/") -> Peer:
    return Peer(
        "Peer",
        "peer==1",
        lambda folder, port: ["python", *command, str(port)],
        lambda *_: {},
        ready,
    )


@pytest.fixture
def environment(tmp_path, monkeypatch) -> Path:
    """A peer's own environment, already made, whose Python is this one."""
    folder = tmp_path / "peer-1"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "installed").touch()
    monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path)
    return folder


@pytest.mark.usefixtures("environment")
def test_a_peer_is_started_and_goes_with_its_folder():
    with running(a_peer("-c", SERVER)) as started:
        assert started.child.running
        assert started.folder.is_dir()

    assert not started.child.running
    assert not started.folder.exists()


@pytest.mark.usefixtures("environment")
def test_a_peer_that_ends_at_once_is_away_in_one_line():
    said = "import sys; sys.exit('no such\\nthing here')"

    with (
        pytest.raises(AwayError, match="no such / thing here") as raised,
        running(a_peer("-c", said)),
    ):
        pass

    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("environment")
def test_a_peer_that_is_never_ready_is_away(monkeypatch):
    monkeypatch.setattr(peers, "START_SECONDS", 1.0)

    with (
        pytest.raises(AwayError, match="not ready after 1 s"),
        running(a_peer("-c", SERVER, ready="/nothing")),
    ):
        pass


def test_what_cannot_be_installed_is_away_and_tried_again(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    with pytest.raises(AwayError, match="it cannot be installed"):
        peers.installed(a_peer())

    assert not (tmp_path / "peer-1" / "installed").exists()


def test_requests_that_nobody_takes_are_told():
    with pytest.raises(SendError, match="ConnectionRefusedError"):
        send(Target(peers.ports.any_free()), [b"spans"])


def test_spans_are_one_for_the_run_each_round_and_each_call():
    spans = spans_of(a_long_record(52))

    names = [each["name"].split()[0] for each in spans]
    assert names[:3] == ["invoke_agent", "chat", "execute_tool"]
    assert (names.count("chat"), names.count("execute_tool")) == (52, 51)
    assert len({each["spanId"] for each in spans}) == len(spans)


def test_spans_hold_the_texts_of_the_record():
    record = a_long_record(8)

    (run,) = read_runs(b"".join(requests_of(record)))

    assert [each.reply for each in run.rounds] == [each.reply for each in record.rounds]
    results = [call.result for each in run.rounds for call in each.calls]
    assert results == [call.result for each in record.rounds for call in each.calls]


def test_a_long_run_takes_several_requests():
    record = a_long_record(300)

    assert len(list(requests_of(record))) == -(-len(spans_of(record)) // BATCH)


def test_an_inspect_log_holds_the_texts_of_the_record():
    record = a_long_record(8)

    told = run_of(record)

    assert told["input"] == TICKET
    assert [each["content"] for each in told["messages"]] == [
        TICKET,
        *(
            text
            for each in record.rounds
            for text in (each.reply, *(call.result for call in each.calls))
        ),
    ]
    answers = [each for each in told["messages"] if each["role"] == "tool"]
    asked = [call for each in told["messages"] for call in each.get("calls", ())]
    assert [each["id"] for each in answers] == [call["id"] for call in asked]
    assert reply_of(7) in json.dumps(told)
