from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from analysis import check

NOTHING = {"name": "reset_profile", "args": {"id": 7}, "result": "", "is_error": False}
FOUND = {"name": "get_employee", "args": {"id": 7}, "result": "7, accountant", "is_error": False}


def log(*calls: dict[str, Any] | None) -> str:
    """A minimal log; None is a finished reply."""
    lines = [
        {"round": n, "stop": "wants_tool" if each else "finished", "calls": [each] if each else []}
        for n, each in enumerate(calls, start=1)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    path = tmp_path / "clean.jsonl"
    path.write_text(log(FOUND, None))
    return path


@pytest.fixture
def looping(tmp_path: Path) -> Path:
    path = tmp_path / "looping.jsonl"
    path.write_text(log(FOUND, NOTHING, NOTHING, NOTHING))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.json"
    path.write_text('{"rounds": [')
    return path


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The report, read strictly: no NaN, no trailing text."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    report: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=refuse)
    return report


def test_the_report_begins_with_three_lines(
    looping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([str(looping)]) == check.FLAGGED

    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "4 rounds, stop reasons: wants_tool 4",
        "first empty or failed result: round 2, reset_profile: nothing",
        "first third identical call: round 4, reset_profile",
    ]
    assert any(line.startswith("  likely cause:") for line in lines)
    assert any(line.startswith("  fix in code:") for line in lines)


def test_a_clean_run_exits_with_0(clean: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([str(clean)]) == check.CLEAN

    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "2 rounds, stop reasons: wants_tool 1, finished 1",
        "first empty or failed result: none",
        "first third identical call: none",
    ]
    assert lines[3:] == [
        "",
        "Finished by itself after 2 rounds, nothing odd.",
        "not flagged, no findings",
        "",
    ]


def test_json_holds_what_others_build_on(looping: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check.main(["--json", str(looping)])

    report = printed(capsys)
    (run,) = report["runs"]
    assert report["errors"] == []
    assert run["file"] == str(looping)
    assert (run["rounds"], run["stops"], run["raw_stops"]) == (
        4,
        {"wants_tool": 4},
        {"wants_tool": 4},
    )
    assert (run["ending"], run["ended_by_itself"], run["flagged"]) == ("stopped", False, True)
    assert run["first_odd_round"] == {
        "round": 2,
        "detector": "empty_result",
        "tool": "reset_profile",
        "why": "empty result",
        "recovered_at": None,
    }
    finding = run["findings"][0]
    assert {
        "detector",
        "version",
        "severity",
        "odd",
        "round",
        "to_round",
        "call",
        "tool",
        "why",
        "cause",
        "fix",
        "evidence",
        "recovered_at",
    } <= finding.keys()
    assert finding["evidence"][0] == {"round": 2, "call": 0}
    assert run["completeness"]["complete"] is True
    assert run["masked"] == {}


def test_secrets_are_masked_before_anything_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "secret.jsonl"
    secret = "AKIA" + "Z7QK3MWX2RPL4TVB"
    path.write_text(
        log({**NOTHING, "result": f"Error: key {secret} was refused", "is_error": True})
    )

    check.main(["--json", str(path)])

    text = capsys.readouterr().out
    assert secret not in text
    assert json.loads(text)["runs"][0]["masked"]


def test_what_cannot_be_read_is_told_and_the_rest_is_checked(
    clean: Path, broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = clean.with_name("missing.json")

    status = check.main(["--json", str(broken), str(clean), str(missing)])

    report = printed(capsys)
    assert status == check.UNREADABLE
    assert [each["file"] for each in report["runs"]] == [str(clean)]
    assert [each["file"] for each in report["errors"]] == [str(broken), str(missing)]
    assert all(each["error"] for each in report["errors"])


def test_unreadable_wins_over_flagged(looping: Path, broken: Path) -> None:
    assert check.main([str(looping), str(broken)]) == check.UNREADABLE


def test_several_files_are_told_apart(
    clean: Path, looping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check.main([str(clean), str(looping)])

    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("==")]
    assert len(heads) == 2


def test_reads_standard_input(
    looping: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(looping.read_bytes())))

    assert check.main(["-"]) == check.FLAGGED
    assert capsys.readouterr().out.startswith("4 rounds")


def test_limits_come_from_a_file(clean: Path, tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text("rounds = 1\n")

    assert check.main(["--limits", str(limits), str(clean)]) == check.FLAGGED


@pytest.mark.parametrize("content", ["rounds = 0", "rounds ="])
def test_limits_that_cannot_be_used_are_told(
    clean: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text(content)

    assert check.main(["--limits", str(limits), str(clean)]) == check.UNREADABLE
    assert "limits.toml" in capsys.readouterr().err


def test_a_format_by_name(clean: Path) -> None:
    assert check.main(["--format", "openai_chat", str(clean)]) == check.UNREADABLE


def test_hostile_text_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hostile.jsonl"
    text = "Error: </script>{{ x }}\u202e\x1b[31m"
    path.write_text(log({**NOTHING, "name": text, "result": text}))

    assert check.main([str(path)]) == check.FLAGGED
    assert "\x1b" not in capsys.readouterr().out
