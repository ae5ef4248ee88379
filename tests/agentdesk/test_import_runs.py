"""`import_runs`, `export_run` and `key_create` from the command line."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import a_project, a_stored_run, native_rounds
from transcripts.models import AccessEntry, ApiKey, Delivery, Project, Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def run_import(*files: Path) -> tuple[int, str]:
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
        assert f"2 runs, a{n}, b{n}; rounds: 6 new, 0 known, 0 replaced" in told
    assert Run.objects.filter(project=project).count() == 4


def test_of_many_runs_the_first_are_named(project: Project, tmp_path: Path) -> None:
    _, told = run_import(a_file(tmp_path, "many.jsonl", *(a_line(f"r{n}") for n in range(7))))

    assert "7 runs, r0, r1, r2, r3, r4, …; rounds: 21 new" in told


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

    assert "1 run, a\\u001b[2Jb; rounds" in told


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
