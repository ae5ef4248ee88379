"""Rules about the code base itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DJANGO_FREE = (
    "transcripts/record.py",
    "transcripts/stop_reasons.py",
    "transcripts/endings.py",
    "transcripts/importers",
    "transcripts/masking",
    "transcripts/export",
    "analysis/detectors",
    "analysis/suite.py",
    "analysis/verdict.py",
    "analysis/check.py",
    "analysis/strip.py",
    "analysis/folds.py",
)


def modules_below(place: str) -> list[Path]:
    path = ROOT / place
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    """Every module that `path` imports, wherever in the file, by full name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def names_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_transcripts_never_import_analysis() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules_below("transcripts")
        for name in imports_of(path)
        if name.split(".")[0] == "analysis"
        or (name.split(".")[0] == "agentdesk" and name != "agentdesk.htmx")
    ]

    assert wrong == []


def test_analysis_takes_nothing_but_htmx_of_the_project_package() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules_below("analysis")
        for name in imports_of(path)
        if name.split(".")[0] == "agentdesk" and name != "agentdesk.htmx"
    ]

    assert wrong == []


def test_the_offline_chain_names_no_django() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for place in DJANGO_FREE
        for path in modules_below(place)
        for name in imports_of(path)
        if name.split(".")[0] == "django"
    ]

    assert wrong == []


def test_check_loads_no_django() -> None:
    """The imports of imports count too: start-up time is what `check` is judged by."""
    answer = subprocess.run(
        [sys.executable, "-c", "import sys, analysis.check; print('django' in sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.strip() == "False"


def test_only_masking_and_the_columns_mark_text_as_masked() -> None:
    may = {"transcripts/fields.py", "transcripts/selectors/record.py"}
    wrong = [
        str(path.relative_to(ROOT))
        for place in ("agentdesk", "transcripts", "analysis")
        for path in modules_below(place)
        if "masked_text" in names_in(path)
        and str(path.relative_to(ROOT)) not in may
        and "transcripts/masking/" not in str(path.relative_to(ROOT))
    ]

    assert wrong == []


def detector_modules() -> list[Path]:
    not_rules = {"__init__.py", "base.py", "limits.py", "reading.py"}
    return [
        path
        for path in (ROOT / "analysis/detectors").glob("*.py")
        if path.name not in not_rules and not path.name.startswith("_")
    ]


def test_every_detector_module_is_one_detector_with_a_test() -> None:
    from analysis.detectors import all_detectors

    names = {detector.name for detector in all_detectors()}

    assert names <= {path.stem for path in detector_modules()}
    missing = [
        name for name in names if not (ROOT / f"tests/analysis/detectors/test_{name}.py").exists()
    ]
    assert missing == []


def test_every_detector_says_all_its_parts() -> None:
    from analysis.detectors import all_detectors

    parts = ("title", "why_it_matters", "stays_silent", "cause", "fix", "source")
    wrong = [
        f"{detector.name}: {part}"
        for detector in all_detectors()
        for part in parts
        if not getattr(detector, part).strip()
    ]

    assert wrong == []


def test_every_importer_has_a_test() -> None:
    from transcripts.importers import all_importers

    tests = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "tests/transcripts/importers").glob("test_*.py")
    )
    missing = [i.name for i in all_importers() if not re.search(rf"\b{i.name}\b", tests)]

    assert missing == []


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    from django.core.management import call_command

    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def test_lock_files_hold_no_addresses() -> None:
    wrong = [
        f"{path.name}: {line}"
        for path in ROOT.glob("requirements*.lock")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "://" in line or line.startswith("-")
    ]

    assert wrong == []


def test_no_style_and_no_script_stands_in_a_template() -> None:
    """The content security policy refuses them; a page would lose them without a sound."""
    inline = re.compile(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:", re.I)
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        for found in inline.finditer(path.read_text(encoding="utf-8"))
    ]

    assert wrong == []


def test_no_template_marks_text_as_safe() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r"\|\s*safe\b|autoescape off", path.read_text(encoding="utf-8"))
    ]

    assert wrong == []
