"""Open files read in pieces: the same runs as from the bytes, and no more in memory than one."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import pytest
import zstandard

from transcripts.importers import (
    ImportProblem,
    UnreadableError,
    archives,
    large,
    read_file,
    read_runs,
    streamed,
)

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests/data"


class Pipe(io.RawIOBase):
    """Standard input: cannot be sought in, and gives what it likes."""

    def __init__(self, content: bytes) -> None:
        self._inner = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(size)

    def seekable(self) -> bool:
        return False


@pytest.fixture
def small_pieces(monkeypatch):
    """Everything is large, and comes in pieces of 7 bytes."""
    monkeypatch.setattr("transcripts.importers._HEAD", 8)
    monkeypatch.setattr(large, "LARGE", 0)
    monkeypatch.setattr(archives, "_STEP", 7)


def a_run(run_id, reply="a"):
    run = {"rounds": [{"round": 1, "stop": "stop", "reply": reply}]}
    return {"run_id": run_id, **run} if run_id else run


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def lines(*runs):
    return "\n".join(json.dumps(run) for run in runs).encode()


THREE = (a_run("a"), a_run("", 'q"]}\\'), a_run("c", "ä, {[\u2028"))
CONTENTS = [
    pytest.param(lines(*THREE), id="lines"),
    pytest.param(b"\xef\xbb\xbf" + lines(*THREE) + b"\n\n", id="lines with a byte order mark"),
    pytest.param(lines(THREE[0]) + b"\n{broken\n" + lines(THREE[2]), id="a broken line"),
    pytest.param(b"{broken\n" + lines(THREE[0], THREE[2]), id="the first line is broken"),
    pytest.param(lines(THREE[0]), id="one line"),
    pytest.param(json.dumps(THREE).encode(), id="a list"),
    pytest.param(json.dumps(THREE, indent=2).encode(), id="a list over many lines"),
    pytest.param(json.dumps({"runs": THREE}).encode(), id="runs"),
    pytest.param(json.dumps({"format": "agentdesk.run/1", "runs": THREE}).encode(), id="named"),
    pytest.param(json.dumps(THREE[0], indent=1).encode(), id="one value over many lines"),
    pytest.param(gzip.compress(lines(*THREE)), id="gzip"),
    pytest.param(zstandard.compress(lines(*THREE)), id="zstd"),
    pytest.param(zipped(("x/one.json", lines(THREE[1])), ("two.jsonl", lines(*THREE))), id="zip"),
    pytest.param(zipped(("one.gz", gzip.compress(lines(*THREE)))), id="gzip in a zip"),
]


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("file", [io.BytesIO, Pipe])
def test_reads_what_the_bytes_hold(small_pieces, content, file):
    wanted = list(read_runs(content, default_run_id="r"))

    assert list(read_file(file(content), default_run_id="r")) == wanted


@pytest.mark.parametrize("content", CONTENTS)
def test_names_runs_as_the_bytes_do(small_pieces, content):
    assert list(read_file(io.BytesIO(content))) == list(read_runs(content))


@pytest.mark.parametrize(
    "path",
    sorted(path for path in DATA.glob("*/*") if path.suffix in (".json", ".jsonl", ".eval", ".gz")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_reads_every_file_of_every_format_alike(small_pieces, path):
    content = path.read_bytes()

    def found(read):
        try:
            return list(read())
        except UnreadableError as error:
            return str(error)

    wanted = found(lambda: read_runs(content, default_run_id="r"))
    assert found(lambda: read_file(io.BytesIO(content), default_run_id="r")) == wanted


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(
            json.dumps([a_run("a"), a_run("b")]).encode()[:-20],
            "$[1]: the JSON breaks off within entry 1 of the list",
            id="a list that breaks off",
        ),
        pytest.param(
            json.dumps([a_run("a")]).encode() + b" {}",
            "after the list comes something else",
            id="more after a list",
        ),
        pytest.param(
            b"[" + json.dumps(a_run("a")).encode() + b',{"a":1,"a":2}]',
            '$[1].a: column 8 of the entry: the key "a" occurs twice',
            id="a key twice",
        ),
        pytest.param(
            lines(a_run("a")) + b'\n{"run_id":"\xff"}',
            "line 2: column 12: byte 0xff is not UTF-8",
            id="a line that is not UTF-8",
        ),
    ],
)
def test_says_where_a_large_file_breaks(small_pieces, content, says):
    found = list(read_file(io.BytesIO(content), default_run_id="r"))

    assert [run.run_id for run in found if not isinstance(run, ImportProblem)] == ["a"]
    assert any(says in str(problem) for problem in found if isinstance(problem, ImportProblem))


def test_refuses_a_line_without_end(small_pieces, monkeypatch):
    monkeypatch.setattr(streamed, "MAX_VALUE", 200)
    content = lines(a_run("a"), a_run("b")) + b"\n" + b"x" * 400

    with pytest.raises(UnreadableError, match="line 3 is longer than 200 bytes"):
        list(read_file(io.BytesIO(content)))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_refuses_a_bomb(pack):
    bomb = pack(lines(a_run("a")) + b"\n" + b" " * 150_000_000)

    with pytest.raises(UnreadableError, match="times its size"):
        list(read_file(io.BytesIO(bomb)))


def test_refuses_a_bomb_in_a_zip():
    bomb = zipped(("a.jsonl", b" " * 150_000_000))

    (problem,) = read_file(io.BytesIO(bomb))

    assert "in a.jsonl: unpacks to more than 1000 times its size" in str(problem)


@pytest.mark.parametrize("cut", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_says_that_a_packed_file_breaks_off_after_the_runs_that_are_whole(small_pieces, cut):
    content = cut(lines(*(a_run(f"r{n}", "x" * n) for n in range(50))))[:-9]

    with pytest.raises(UnreadableError, match="breaks off"):
        list(read_file(io.BytesIO(content)))


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..\\..\\x", "a\x1b[2J", "samples/../../../x.json"]
)
def test_a_hostile_name_in_a_zip_is_only_a_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    content = zipped((name, lines(a_run("a"))), (name + "2", b"{broken"))

    run, problem = read_file(io.BytesIO(content))

    assert run.run_id == "a"
    assert isinstance(problem, ImportProblem)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["samples/../../../x.json", "samples//etc/passwd.json"])
def test_a_hostile_name_in_an_inspect_log_is_only_a_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    log = json.loads((DATA / "inspect_ai" / "two_tools.json").read_text(encoding="utf-8"))
    samples = log.pop("samples")
    content = zipped(("header.json", json.dumps(log)), (name, json.dumps(samples[0])))

    (run,) = read_file(io.BytesIO(content))

    assert run.rounds
    assert list(tmp_path.iterdir()) == []


def test_formats_may_be_mixed_in_a_zip_and_not_within_a_file():
    chat = (DATA / "openai_chat" / "two_tools.json").read_bytes()
    claude = (DATA / "claude_code" / "two_tools.jsonl").read_bytes()
    one_line = json.dumps(json.loads(chat)).encode()

    runs = list(read_file(io.BytesIO(zipped(("a", chat), ("b", claude), ("c", lines(a_run("c")))))))
    mixed = list(read_file(io.BytesIO(lines(a_run("a")) + b"\n" + one_line)))

    assert [run.format for run in runs] == ["openai_chat", "claude_code", "native"]
    assert [str(found) for found in mixed if isinstance(found, ImportProblem)] == [
        "line 2: this is neither a run nor a round"
    ]
    assert [run.run_id for run in mixed if not isinstance(run, ImportProblem)] == ["a"]


MEASURED = """
import resource, sys
from transcripts.importers import read_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = 0
with open(sys.argv[1], "rb") as file:
    for found in read_file(file):
        count += 1
print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("shape", ["lines", "gzip", "zstd", "list", "zip"])
def test_memory_does_not_grow_with_the_file(tmp_path, shape):
    """96 MB of runs; read as a whole they take 96 MB and more, in pieces what the pieces take."""
    runs = [lines(a_run(f"r{n}", Random(n).randbytes(50_000).hex())) for n in range(960)]
    plain = b"[" + b",\n".join(runs) + b"]" if shape == "list" else b"\n".join(runs)
    packed = {
        "lines": lambda: plain,
        "list": lambda: plain,
        "gzip": lambda: gzip.compress(plain, 1),
        "zstd": lambda: zstandard.ZstdCompressor(level=1).compress(plain),
        "zip": lambda: zipped(("runs.jsonl", plain), method=zipfile.ZIP_STORED),
    }[shape]()
    file = tmp_path / "runs"
    file.write_bytes(packed)

    told = subprocess.run(
        [sys.executable, "-c", MEASURED, str(file)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip

    assert int(told[0]) == 960
    assert int(told[1]) < 75, f"{told[1]} MB for a file of {len(plain) >> 20} MB"
