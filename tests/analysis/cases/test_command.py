"""`python -m analysis.cases`: exit codes, reports, JUnit, suites, results sent home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from analysis.cases.case import write_case
from analysis.cases.replay import replay_command
from tests.analysis.cases import vpn
from tests.analysis.cases.small import a_case, gone, says, wants

AGENTS = "tests.analysis.cases.vpn"
OLD, NEW = f"{AGENTS}:old_agent", f"{AGENTS}:new_agent"
SMALL = "tests.analysis.cases.small:plain_loop"
SILENT = {"id": "silent", "kind": "detectors_silent", "detectors": ["repeated_call"]}


def saved(case: dict[str, Any], path: Path) -> str:
    path.write_text(json.dumps(case), encoding="utf-8")
    return str(path)


@pytest.fixture
def case_file(tmp_path: Path) -> str:
    case = vpn.vpn_case(expect=[*vpn.EXPECT, SILENT])
    path = tmp_path / "vpn.case.json"
    path.write_text(write_case(case), encoding="utf-8")
    return str(path)


def test_exit_codes_say_how_it_went(case_file: str, tmp_path: Path) -> None:
    future = saved({"schema": "agentdesk.case/9"}, tmp_path / "future.json")

    assert replay_command([case_file, "--agent", NEW]) == 0
    assert replay_command([case_file, "--agent", OLD]) == 1
    assert replay_command([future, "--agent", NEW]) == 2


def test_the_report_names_what_failed_and_where(
    case_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay_command([case_file, "--agent", OLD])

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("FAIL  vpn-5127  still going at round 52")
    assert "  FAIL at most 12 rounds  · 52 rounds" in lines
    assert any(
        "FAIL silent: repeated_call  · repeated_call: round 7: reset_vpn_profile" in line
        for line in lines
    )


def test_the_detectors_of_the_product_judge_here(
    case_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    replay_command([case_file, "--agent", NEW, "--json"])

    result = json.loads(capsys.readouterr().out)
    assert {e["id"]: e["state"] for e in result["expectations"]}["silent"] == "passed"


def test_json_records_how_the_runs_were_made(
    case_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--runs", "6", "--seed", "7", "--code-version", "abc", "--prompt-version", "p2"]
    replay_command([case_file, "--agent", NEW, "--json", "--temperature", "0.5", *options])

    result = json.loads(capsys.readouterr().out)
    assert (result["runs"], result["passed"]) == (6, 6)
    assert result["interval"][0] == pytest.approx(0.6097, abs=1e-4)
    assert [entry["seed"] for entry in result["each"]] == [7, 8, 9, 10, 11, 12]
    assert result["versions"] == {"code": "abc", "prompt": "p2", "model": ""}
    assert (result["seed"], result["temperature"]) == (7, 0.5)


def test_a_version_is_compared_with_the_accepted_one(
    case_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay_command([case_file, "--agent", NEW, "--runs", "8", "--json"])
    accepted = tmp_path / "accepted.json"
    accepted.write_text(capsys.readouterr().out, encoding="utf-8")

    replay_command([case_file, "--agent", OLD, "--runs", "8", "--against", str(accepted)])

    shown = capsys.readouterr().out
    assert "100% of 8 → 0% of 8: worse (exact test, p = 0.00016)" in shown


def test_a_rate_may_be_enough(tmp_path: Path) -> None:
    case = a_case(wants("look"), says(), expect=[{"kind": "max_rounds", "rounds": 9}])
    path = saved(case, tmp_path / "small.case.json")
    agent = "tests.analysis.cases.test_command:fails_for_odd_seeds"

    assert replay_command([path, "--agent", agent, "--runs", "10", "--seed", "1"]) == 1
    half = ["--require", "0.5"]
    assert replay_command([path, "--agent", agent, "--runs", "10", "--seed", "1", *half]) == 0


def fails_for_odd_seeds(replay: Any) -> None:
    assert replay.options.seed % 2 == 0


def test_junit_has_a_suite_for_each_case(case_file: str, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"

    replay_command([case_file, "--agent", OLD, "--junit", str(report)])

    (suite,) = ElementTree.parse(report).getroot()
    tests = suite.findall("testcase")
    assert (suite.get("name"), suite.get("tests")) == ("vpn-5127", str(len(tests)))
    assert suite.get("failures") == str(len(suite.findall("testcase/failure"))) == "6"
    messages = [failure.get("message") or "" for failure in suite.iter("failure")]
    assert any("round 40: the ticket is not in what the model reads" in m for m in messages)


def raises_markup(replay: Any) -> None:
    raise ValueError("]]> <b>\x00\x1b[31m & \ud83d\"'")


def test_hostile_text_leaves_junit_well_formed(tmp_path: Path) -> None:
    path = saved(a_case(says()), tmp_path / "c.case.json")
    report = tmp_path / "report.xml"

    agent = "tests.analysis.cases.test_command:raises_markup"
    replay_command([path, "--agent", agent, "--junit", str(report)])

    (error,) = ElementTree.parse(report).getroot().iter("error")
    assert "]]> <b>" in (error.get("message") or "")


def test_hostile_text_does_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(a_case(says()), tmp_path / "c.case.json")

    replay_command([path, "--agent", "tests.analysis.cases.test_command:raises_markup"])

    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\u001b[31m" in shown
    assert "\\ud83d" in shown


def suite_of(folder: Path, count: int) -> list[str]:
    names = [f"case-{number:03}" for number in range(count)]
    for name in reversed(names):
        saved({**a_case(wants("look"), says()), "case_id": name}, folder / f"{name}.case.json")
    return names


def test_a_folder_is_a_suite_in_stable_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = suite_of(tmp_path, 12)
    saved({"schema": "agentdesk.case/2"}, tmp_path / "case-005b.case.json")

    code = replay_command([str(tmp_path), "--agent", SMALL, "--jobs", "3"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 2
    assert [line.split()[1] for line in lines if line.startswith("ok")] == names
    assert lines[6].startswith("ERROR case-005b.case.json")
    assert "made by another version" in lines[6]


def test_a_zip_and_jsonl_are_suites_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = suite_of(tmp_path, 3)
    files = sorted(tmp_path.glob("*.case.json"))
    with zipfile.ZipFile(tmp_path / "suite.zip", "w") as archive:
        for file in files:
            archive.write(file, f"suite/{file.name}")
        archive.writestr("suite/harness.py", "raise SystemExit('run from a zip')")
        archive.writestr("../../evil.txt", "x")
    lines = "\n".join(file.read_text(encoding="utf-8") for file in files)
    (tmp_path / "suite.jsonl").write_text(lines, encoding="utf-8")

    for suite in ("suite.zip", "suite.jsonl"):
        assert replay_command([str(tmp_path / suite), "--agent", SMALL]) == 0
        out = capsys.readouterr().out.splitlines()
        assert [line.split()[1] for line in out] == names


def test_a_suite_of_nothing_does_not_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.jsonl").touch()
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()
    (tmp_path / "broken.zip").write_bytes(b"PK")
    (tmp_path / "folder").mkdir()

    for name in ("empty.jsonl", "empty.zip", "broken.zip", "folder"):
        assert replay_command([str(tmp_path / name), "--agent", SMALL]) == 2
    assert capsys.readouterr().out.count("no case in it") == 3


def test_a_damaged_entry_of_a_zip_is_told_and_the_others_are_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = suite_of(tmp_path, 2)
    path = tmp_path / "suite.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.write(tmp_path / f"{name}.case.json", f"{name}.case.json")
    path.write_bytes(path.read_bytes().replace(b"agentdesk.case/1", b"agentdesk.case/9", 1))

    assert replay_command([str(path), "--agent", SMALL]) == 2

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ERROR case-000.case.json: cannot be unpacked: Bad CRC-32")
    assert lines[1].startswith("ok    case-001")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(["nowhere.json", "--agent", NEW], "No such file", id="no file"),
        pytest.param(["FILE", "--agent", "nothing"], "not module:function", id="no colon"),
        pytest.param(["FILE", "--agent", "not_there:x"], "cannot be imported", id="no module"),
        pytest.param(["FILE", "--agent", f"{AGENTS}:nix"], "has no nix", id="no function"),
        pytest.param(["FILE", "--agent", f"{AGENTS}:MOCKS"], "is no function", id="a list"),
        pytest.param(["FILE", "--agent", NEW, "--model", NEW], "go together", id="model alone"),
        pytest.param(["FILE", "--agent", NEW, "--runs", "0"], "more than 0", id="no runs"),
        pytest.param(["FILE", "--agent", NEW, "--post", "ftp://x"], "no http address", id="ftp"),
        pytest.param(["FILE", "--agent", NEW, "--against", "no.json"], "--against", id="against"),
    ],
)
def test_what_cannot_be_done_is_said(
    case_file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    code = replay_command([case_file if word == "FILE" else word for word in arguments])

    said = capsys.readouterr()
    assert code == 2
    assert sentence in said.err + said.out


class Desk(BaseHTTPRequestHandler):
    """Takes results, and knows one case."""

    received: list[tuple[str, str, dict[str, Any]]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.received.append((self.path, self.headers["Authorization"], body))
        known = "vpn-5127" in self.path
        self.send_response(202 if known else 404)
        self.end_headers()
        self.wfile.write(b"" if known else b'{"detail": "no such case"}')

    def log_message(self, *_: Any) -> None:
        return None


@pytest.fixture
def desk() -> Iterator[tuple[str, list[Any]]]:
    received: list[Any] = []
    server = HTTPServer(("127.0.0.1", 0), type("Handler", (Desk,), {"received": received}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    thread.join()
    server.server_close()


def test_results_come_home(
    case_file: str, desk: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, received = desk
    monkeypatch.setenv("AGENTDESK_KEY", "key-1")

    assert replay_command([case_file, "--agent", NEW, "--post", address]) == 0

    ((path, key, body),) = received
    assert (path, key) == ("/api/v1/cases/vpn-5127/results", "Bearer key-1")
    assert body["schema"] == "agentdesk.case-result/1"
    assert body["state"] == "passed"
    assert "printed" not in body["each"][0]


def test_an_unknown_case_is_told(
    tmp_path: Path, desk: tuple[str, list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(a_case(says()), tmp_path / "c.case.json")

    code = replay_command([path, "--agent", SMALL, "--post", desk[0]])

    assert code == 2
    assert 'answered 404: {"detail": "no such case"}' in capsys.readouterr().err


def test_step_mode_waits_before_each_round(
    case_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ["", "", "c"]
    monkeypatch.setattr("builtins.input", lambda _: keys.pop(0))

    code = replay_command([case_file, "--agent", NEW, "--step"])

    shown = capsys.readouterr().out
    assert (code, keys) == (0, [])
    assert "Round 3: the model is shown 6 messages" in shown
    assert "  reset_vpn_profile raises PermissionError: 403 Forbidden" in shown
    assert "  reply (branch, wants_tool): I may not reset this profile" in shown


def test_step_mode_can_be_left(
    case_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "q")

    assert replay_command([case_file, "--agent", NEW, "--step"]) == 1
    assert "stopped by you" in capsys.readouterr().out


def test_what_an_agent_prints_does_not_reach_the_output(case_file: str) -> None:
    agent = "tests.analysis.cases.test_command:prints_much"
    answer = subprocess.run(
        [sys.executable, "-m", "analysis.cases", case_file, "--agent", agent, "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )

    result = json.loads(answer.stdout)
    assert result["each"][0]["printed"] == "not for the report\n"


def prints_much(replay: Any) -> None:
    print("not for the report")
    vpn.new_agent(replay)


def test_replay_loads_no_django() -> None:
    code = "import sys, analysis.cases.replay; print('django' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )

    assert answer.stdout.strip() == "False"


def starts_and_waits(replay: Any) -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    Path("started").write_text(str(child.pid), encoding="utf-8")
    child.wait()


def test_ending_the_command_ends_its_runs(case_file: str, tmp_path: Path) -> None:
    agent = "tests.analysis.cases.test_command:starts_and_waits"
    root = str(Path(__file__).parents[3])
    command = subprocess.Popen(
        [sys.executable, "-m", "analysis.cases", case_file, "--agent", agent],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.DEVNULL,
    )
    started = tmp_path / "started"
    for _ in range(400):
        if started.exists() and started.read_text(encoding="utf-8"):
            break
        time.sleep(0.05)

    command.terminate()

    assert command.wait(20) == 143
    assert gone(int(started.read_text(encoding="utf-8")))
