"""`./desk case`: from a transcript of any known format to a test case, offline."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from analysis.cases.case import read_case
from analysis.cases.from_file import main
from tests.analysis.cases import vpn

LOG = [
    {"round": 1, "stop": "wants_tool", "calls": [{"name": "look", "args": {}, "result": ""}]},
    {"round": 2, "stop": "finished", "reply": "Done."},
]


def saved(path: Path, rounds: list[object]) -> str:
    path.write_text("\n".join(json.dumps(entry) for entry in rounds), encoding="utf-8")
    return str(path)


def test_a_transcript_becomes_a_case(tmp_path: Path) -> None:
    assert main([str(vpn.FILE), "--out", str(tmp_path)]) == 0

    case = read_case((tmp_path / "vpn-5127.case.json").read_text(encoding="utf-8"))
    kinds = [expectation["kind"] for expectation in case["expect"]]
    assert "no_empty_result" in kinds
    assert len(case["run"]["rounds"]) == 52


def test_secrets_are_masked_before_they_are_in_a_case(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    log = saved(tmp_path / "log.jsonl", [{**LOG[0], "reply": f"token {secret}"}, LOG[1]])

    main([log, "--out", str(tmp_path)])

    text = (tmp_path / "log.case.json").read_text(encoding="utf-8")
    assert secret not in text
    assert "[SECRET:" in text
    assert sum(read_case(text)["masked"]["hits"].values()) == 1


def test_the_zip_is_written_at_once(tmp_path: Path) -> None:
    target = tmp_path / "suite.zip"

    assert main([str(vpn.FILE), saved(tmp_path / "b.jsonl", LOG), "--zip", str(target)]) == 0

    names = zipfile.ZipFile(target).namelist()
    assert names[:2] == ["suite/vpn-5127.case.json", "suite/b.case.json"]


def test_an_incomplete_run_is_told_and_the_others_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gap = saved(tmp_path / "gap.jsonl", [LOG[0], {**LOG[1], "round": 4}])
    good = saved(tmp_path / "good.jsonl", LOG)

    assert main([gap, good, "--out", str(tmp_path)]) == 2

    said = capsys.readouterr()
    assert "run gap: the run is too incomplete to replay: rounds 2 to 3 are missing" in said.err
    assert said.out.split() == [str(tmp_path / "good.case.json")]


def test_an_edited_case_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = saved(tmp_path / "log.jsonl", LOG)
    main([log, "--out", str(tmp_path)])

    assert main([log, "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([log, "--out", str(tmp_path), "--replace"]) == 0


def test_only_the_run_that_was_asked_for(tmp_path: Path) -> None:
    assert main([str(vpn.FILE), "--run", "another", "--out", str(tmp_path)]) == 2
    assert list(tmp_path.iterdir()) == []
