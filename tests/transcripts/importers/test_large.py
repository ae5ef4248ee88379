"""Large lists, read entry by entry."""

import json
import mmap
from pathlib import Path

import pytest

from transcripts.importers import ImportProblem, UnreadableError, large, read_runs

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch):
    monkeypatch.setattr(large, "LARGE", 1)


def a_run(run_id, reply="a"):
    return {"run_id": run_id, "rounds": [{"round": 1, "stop": "stop", "reply": reply}]}


def read(value):
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return list(read_runs(content, default_run_id="r"))


@pytest.mark.parametrize(
    "wrap",
    [lambda runs: runs, lambda runs: {"runs": runs}, lambda runs: {"format": "x", "runs": runs}],
    ids=["list", "runs", "runs with a format"],
)
def test_reads_the_runs_of_a_list(wrap):
    assert [run.run_id for run in read(wrap([a_run("a"), a_run("b")]))] == ["a", "b"]


def test_names_runs_without_an_id_as_it_does_in_a_small_list(monkeypatch):
    runs = [{"rounds": a_run("")["rounds"]}, {"rounds": a_run("")["rounds"]}]
    names = [run.run_id for run in read(runs)]
    monkeypatch.setattr(large, "LARGE", 10**9)

    assert names == [run.run_id for run in read(runs)] == ["r", "r-2"]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        pytest.param(b'{"rounds":[{"round":NaN}]}', None, id="NaN"),
        pytest.param(
            b'{"rounds":[],"rounds":[]}',
            '$[1].rounds: column 14 of the entry: the key "rounds" occurs twice',
            id="a key twice",
        ),
        pytest.param(b'{"run_id":"\xff"}', "$[1]: byte 11 of the entry is not UTF-8", id="UTF-8"),
        pytest.param(b"[3]", "this is neither a run nor a round", id="no run"),
    ],
)
def test_says_which_entry_cannot_be_read(entry, says):
    content = b"[" + json.dumps(a_run("a")).encode() + b"," + entry + b"]"
    if says is None:
        with pytest.raises(UnreadableError, match="NaN is not a JSON number"):
            read(content)
        return

    run, problem = read(content)

    assert run.run_id == "a"
    assert isinstance(problem, ImportProblem)
    assert str(problem) == says


def test_the_spans_of_a_list_are_one_run():
    spans = json.loads((DATA / "phoenix/two_tools.json").read_bytes())["data"]

    (run,) = read(spans)

    assert len(run.rounds) == 2


def test_a_list_of_messages_is_one_run():
    messages = json.loads((DATA / "openai_chat/two_tools.json").read_bytes())["messages"]

    (run,) = read(messages)

    assert len(run.rounds) == 2


@pytest.mark.parametrize("content", [b"[", b'{"runs":3}', b"[]"])
def test_leaves_what_is_no_list_of_runs_to_the_reading_of_the_whole(content):
    with pytest.raises(UnreadableError):
        read(content)


def test_says_that_there_are_no_runs():
    (problem,) = read({"runs": []})

    assert problem.error == "there are no runs in it"


def test_reads_a_mapped_file(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([a_run("a"), a_run("b")]))

    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        runs = [run.run_id for run in read_runs(content)]

    assert runs == ["a", "b"]
