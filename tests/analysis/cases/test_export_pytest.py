"""The export: small, the same bytes every time, and enough by itself."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from analysis.cases.case import read_case
from analysis.cases.export_pytest import export_files, export_zip
from analysis.cases.joining import FOLDER, joined_harness
from tests.analysis.cases import vpn


def test_the_zip_of_the_vpn_run_is_small_and_always_the_same() -> None:
    first = export_zip([vpn.vpn_case()], folder="vpn-5127")

    assert len(first) < 60_000
    assert first == export_zip([vpn.vpn_case()], folder="vpn-5127")


def test_the_zip_holds_four_files_below_one_folder() -> None:
    packed = export_zip([vpn.vpn_case()], folder="../vpn 5127")

    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.namelist() == [
            f"_vpn_5127/{name}"
            for name in ("vpn-5127.case.json", "harness.py", "test_case.py", "README.md")
        ]
        case = read_case(archive.read("_vpn_5127/vpn-5127.case.json"))
    assert case == vpn.vpn_case()


def test_the_readme_is_ten_lines_and_names_the_two_functions() -> None:
    readme = export_files([vpn.vpn_case()])["README.md"]

    assert len(readme.splitlines()) == 10
    assert "agent(replay)" in readme
    assert "model(messages)" in readme


def test_no_text_of_a_transcript_is_in_the_code() -> None:
    hostile = {**vpn.vpn_case(), "title": '"""\nimport os\nos.abort()', "notes": "{0} %s"}

    plain, changed = export_files([vpn.vpn_case()]), export_files([hostile])

    assert changed["test_case.py"] == plain["test_case.py"]
    assert changed["harness.py"] == plain["harness.py"]
    assert "abort" not in changed["README.md"]


def test_a_suite_is_one_download() -> None:
    cases = [{**vpn.vpn_case(), "case_id": f"vpn:{number}"} for number in range(3)]

    files = export_files(cases)

    assert list(files)[:3] == ["vpn_0.case.json", "vpn_1.case.json", "vpn_2.case.json"]
    with pytest.raises(ValueError, match="two cases have the id"):
        export_files([*cases, cases[0]])


def test_the_harness_is_joined_from_all_its_modules() -> None:
    text = joined_harness()

    tree = ast.parse(text, feature_version=(3, 9))
    assert text.endswith("sys.exit(main(sys.argv[1:]))\n")
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for path in FOLDER.glob("*.py"):
        module = ast.parse(path.read_text(encoding="utf-8"))
        assert {n.name for n in module.body if isinstance(n, ast.FunctionDef)} <= names


def test_no_name_is_there_twice_when_the_modules_are_one() -> None:
    names: list[str] = []
    for node in ast.parse(joined_harness()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]

    assert sorted(names) == sorted(set(names))


def test_the_harness_needs_nothing_but_python() -> None:
    modules = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in ast.walk(ast.parse(joined_harness()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }

    assert {name.split(".")[0] for name in modules} - set(sys.stdlib_module_names) == set()


def unpacked(folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(export_zip([vpn.vpn_case()], folder="vpn"))) as archive:
        archive.extractall(folder)
    return folder / "vpn"


def environment(**more: str) -> dict[str, str]:
    """Without what points Python to this checkout."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DJANGO", "PYTEST"))}
    return {**kept, **more}


def run(*command: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_export_passes_with_its_example_and_fails_with_the_old_loop(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "old.py").write_text(
        "import harness\n"
        "def agent(replay):\n"
        "    messages = replay.start()\n"
        "    while True:\n"
        "        reply = replay.ask(messages)\n"
        "        messages.append(reply.message)\n"
        "        for call in reply.calls:\n"
        "            try: result = replay.call(call.name, call.args)\n"
        "            except harness.ToolFailed: result = ''\n"
        "            messages.append(call.answer(result))\n",
        encoding="utf-8",
    )
    pytest_here = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error")

    good = run(*pytest_here, cwd=folder)
    bad = run(*pytest_here, cwd=folder, AGENTDESK_AGENT="old:agent")

    assert "6 passed" in good.stdout, good.stdout
    assert "4 failed, 2 passed" in bad.stdout, bad.stdout
    assert "round 7: reset_vpn_profile" in bad.stdout


def test_the_file_is_a_command_too(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)

    answer = run(
        sys.executable, "-I", "harness.py", ".", "--agent", "harness:example_agent", cwd=folder
    )

    assert answer.stdout.splitlines() == ["ok    vpn-5127  finished at round 5"], answer.stderr


def test_a_loop_that_imports_the_exported_file_runs_in_the_product_too(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)

    answer = run(
        *(sys.executable, "-m", "analysis.cases", "."),
        *("--agent", "harness:example_agent"),
        cwd=folder,
        PYTHONPATH=str(Path(__file__).parents[3]),
    )

    assert answer.stdout.splitlines() == ["ok    vpn-5127  finished at round 5"], answer.stdout


@pytest.mark.services
def test_a_fresh_environment_with_only_pytest_passes_it(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    installed = run(python, "-m", "pip", "install", "-q", "pytest", cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr

    answer = run(python, "-m", "pytest", "-q", cwd=folder)

    assert answer.returncode == 0, answer.stdout
    assert "6 passed" in answer.stdout
