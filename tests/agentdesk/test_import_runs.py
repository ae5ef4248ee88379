"""`import_runs`, `export_run` and `key_create` from the command line."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import zstandard
from django.core.management import CommandError, call_command
from django.test import Client

from agentdesk import importing, progress
from tests.factories import a_project, a_stored_run, native_rounds
from tests.transcripts.importers.test_streamed import Pipe
from transcripts.importers import large
from transcripts.models import AccessEntry, ApiKey, Delivery, Project, Run
from transcripts.selectors.record import run_record

pytestmark = pytest.mark.django_db(transaction=True)
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in pieces, and become deliveries of two runs."""
    monkeypatch.setattr(importing, "SMALL_BYTES", 8)
    monkeypatch.setattr(importing, "BATCH_RUNS", 2)
    monkeypatch.setattr("transcripts.importers._HEAD", 8)
    monkeypatch.setattr(large, "LARGE", 8)


def run_import(*files: Path | str) -> tuple[int, str]:
    """Exit status and what was printed."""
    out = StringIO()
    try:
        call_command("import_runs", *map(str, files), project="helpdesk", stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def a_file(folder: Path, name: str, *lines: str) -> Path:
    file = folder / name
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def a_line(run_id: str) -> str:
    return json.dumps({"run_id": run_id, "rounds": native_rounds()})


def test_files_are_stored_and_told(project: Project, tmp_path: Path) -> None:
    files = [a_file(tmp_path, f"{n}.jsonl", a_line(f"a{n}"), a_line(f"b{n}")) for n in range(2)]

    status, told = run_import(*files)

    assert status == 0
    for n in range(2):
        assert f"2 runs, a{n}, b{n}; 6 rounds: 6 new, 0 repeated" in told
    assert Run.objects.filter(project=project).count() == 4


def test_the_sum_says_all_and_where_to_look(project: Project, tmp_path: Path) -> None:
    good = a_file(tmp_path, "good.jsonl", a_line("a"), a_line("b"))
    bad = a_file(tmp_path, "bad.jsonl", a_line("a"), "{broken")

    _, told = run_import(good, bad)

    assert told.splitlines()[-3:] == [
        "2 files: 3 runs, 9 rounds: 6 new, 3 repeated",
        f"1 place could not be read, in {bad}",
        "/p/helpdesk/runs/?tab=all",
    ]


def test_the_list_is_told_with_the_address_of_the_site(
    project: Project, tmp_path: Path, settings: Any
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://desk.example.org"]

    _, told = run_import(a_file(tmp_path, "a.json", a_line("a")))

    assert told.endswith("https://desk.example.org/p/helpdesk/runs/?tab=all\n")


def packed(kind: str, content: bytes) -> bytes:
    if kind == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a/runs.jsonl", content)
        return file.getvalue()
    return {"plain": bytes, "gz": gzip.compress, "zst": zstandard.compress}[kind](content)


@pytest.mark.parametrize("kind", ["plain", "gz", "zst", "zip"])
@pytest.mark.parametrize("way", ["small", "large", "stdin"])
def test_a_file_twice_changes_nothing(
    project: Project,
    tmp_path: Path,
    kind: str,
    way: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if way != "small":
        request.getfixturevalue("all_large")
    content = packed(kind, "\n".join(a_line(f"r{n}") for n in range(5)).encode())
    file = tmp_path / "runs"
    file.write_bytes(content)

    told = []
    for _ in range(2):
        if way == "stdin":
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Pipe(content)))
        told.append(run_import("-" if way == "stdin" else file))

    assert [status for status, _ in told] == [0, 0]
    assert "5 runs, 15 rounds: 15 new, 0 repeated" in told[0][1]
    assert "5 runs, 15 rounds: 0 new, 15 repeated" in told[1][1]
    assert sorted(Run.objects.values_list("run_id", flat=True)) == [f"r{n}" for n in range(5)]
    assert {delivery.body for delivery in Delivery.objects.all()} == {b""}
    assert Delivery.objects.count() == (2 if way == "small" else 6)


def test_a_large_file_is_the_same_as_a_small_one(
    project: Project, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every field of every run, by way of the native format; runs without an id too."""
    whole = json.loads((DATA / "native" / "two_tools.json").read_text(encoding="utf-8"))
    lines = [json.dumps(run) for run in (whole, {"rounds": native_rounds()})]
    file = a_file(tmp_path, "x.jsonl", *lines)
    run_import(file)
    small = [run_record(run=run).record for run in Run.objects.order_by("run_id")]
    Run.objects.all().delete()

    request.getfixturevalue("all_large")
    run_import(file)

    assert [run_record(run=run).record for run in Run.objects.order_by("run_id")] == small


def test_what_a_large_file_breaks_off_after_is_stored(
    project: Project, tmp_path: Path, all_large: None
) -> None:
    file = tmp_path / "cut.gz"
    file.write_bytes(gzip.compress("\n".join(a_line(f"r{n}") for n in range(60)).encode(), 0)[:-99])

    status, told = run_import(file)

    assert status == 1
    assert "cut.gz: the gzip content breaks off at byte" in told
    assert Run.objects.count() > 50


def test_what_a_large_file_says_wrong_is_told_with_its_place(
    project: Project, tmp_path: Path, all_large: None
) -> None:
    bad = json.dumps({"run_id": "odd", "rounds": [{"round": 0}]})
    file = a_file(tmp_path, "mixed.jsonl", a_line("a"), bad, "{broken", '{"a": 1}', a_line("z"))

    status, told = run_import(file)

    assert status == 1
    for line in (
        "line 2, run odd, $.rounds[0].round: ",
        "line 3: column 2: ",
        "line 4: this is neither a run nor a round",
        "3 places could not be read, in",
    ):
        assert line in told
    assert sorted(Run.objects.values_list("run_id", flat=True)) == ["a", "z"]


def test_an_interrupted_import_goes_on_where_it_is_started_again(
    project: Project, tmp_path: Path, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = a_file(tmp_path, "many.jsonl", *(a_line(f"r{n}") for n in range(6)))
    left = iter([True, True])
    whole = importing.delivery_process

    def stopped(delivery_id: UUID) -> dict[int, datetime]:
        if not next(left, False):
            raise KeyboardInterrupt
        return whole(delivery_id)

    monkeypatch.setattr(importing, "delivery_process", stopped)
    status, told = run_import(file)
    assert (status, Run.objects.count()) == (130, 4)
    assert "start it again to go on" in told

    monkeypatch.setattr(importing, "delivery_process", whole)
    status, told = run_import(file)

    assert (status, Run.objects.count()) == (0, 6)
    assert "6 rounds new" not in told
    assert "18 rounds: 6 new, 12 repeated" in told


def test_plain_lines_tell_of_a_long_import_without_a_terminal(
    project: Project,
    tmp_path: Path,
    all_large: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0)

    run_import(a_file(tmp_path, "many.jsonl", *(a_line(f"r{n}") for n in range(6))))

    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("% read, 2 runs so far")
    assert lines[-1] == "many.jsonl: 100 % read, 6 runs so far"


def test_a_terminal_shows_a_bar(
    project: Project, tmp_path: Path, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_BARS", 0)

    run_import(a_file(tmp_path, "many.jsonl", *(a_line(f"r{n}") for n in range(6))))

    assert "many.jsonl:" in terminal.getvalue()
    assert "100%|" in terminal.getvalue()
    assert "6 runs, 18 rounds" in terminal.getvalue()


def test_of_many_runs_the_first_are_named(project: Project, tmp_path: Path) -> None:
    _, told = run_import(a_file(tmp_path, "many.jsonl", *(a_line(f"r{n}") for n in range(7))))

    assert "7 runs, r0, r1, r2, r3, r4, …; 21 rounds: 21 new" in told


def test_a_run_without_an_id_can_be_exported_by_the_one_told(
    project: Project, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, reply in ((one, "Hm."), (other, "Ah.")):
        folder.mkdir()
        line = json.dumps({"round": 1, "reply": reply, "stop": "end_turn"})
        _, told = run_import(a_file(folder, "log.jsonl", line))
        name = told.split(", ")[1].partition(";")[0]
        assert Run.objects.get(run_id=name).round_count == 1

    assert Run.objects.count() == 2, "files of one name are not one run"


def test_an_id_does_not_speak_to_the_terminal(project: Project, tmp_path: Path) -> None:
    _, told = run_import(a_file(tmp_path, "hostile.jsonl", a_line("a\x1b[2Jb")))

    assert "1 run, a\\u001b[2Jb; 3 rounds" in told


def test_a_broken_line_is_told_with_its_place(project: Project, tmp_path: Path) -> None:
    status, told = run_import(a_file(tmp_path, "mixed.jsonl", a_line("good"), "{broken"))

    assert status == 1
    assert "mixed.jsonl: line 2: column 2:" in told
    assert "in quarantine, receipt" in told
    assert Run.objects.get().run_id == "good"


def test_what_cannot_be_read_is_2(project: Project, tmp_path: Path) -> None:
    status, told = run_import(tmp_path / "nowhere.json", a_file(tmp_path, "empty.json", ""))

    assert status == 2
    assert "No such file" in told
    assert not Delivery.objects.exists()


def test_an_unknown_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no such project"):
        run_import(tmp_path / "x.json")


def test_a_run_is_exported_and_leaves_a_line(project: Project, tmp_path: Path) -> None:
    a_stored_run(project, run_id="r/1")
    file = tmp_path / "out.json"

    call_command("export_run", "r/1", output=file)

    assert json.loads(file.read_text(encoding="utf-8"))["run_id"] == "r/1"
    assert AccessEntry.objects.get().action == "export"


def test_an_id_of_two_projects_needs_one(project: Project) -> None:
    for each in (project, a_project()):
        a_stored_run(each, run_id="twice")
    out = StringIO()

    with pytest.raises(CommandError, match="--project"):
        call_command("export_run", "twice", stdout=out)
    call_command("export_run", "twice", project="helpdesk", stdout=out)

    assert json.loads(out.getvalue())["run_id"] == "twice"


def test_a_key_is_printed_once_and_works(project: Project) -> None:
    out = StringIO()
    call_command("key_create", project="helpdesk", scope=["read"], stdout=out)
    key = out.getvalue().strip()

    assert ApiKey.objects.get().scopes == ["read"]
    answer = Client(headers={"Authorization": f"Bearer {key}"}).get("/api/v1/runs")
    assert answer.status_code == 200
