"""Rules about the code base itself."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tarfile
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


def test_every_masker_of_the_server_is_made_in_one_place() -> None:
    """Else the rules of a project would not hold on every way in. `check` has no project."""
    may = {"transcripts/maskers.py", "analysis/check.py"}
    wrong = [
        str(path.relative_to(ROOT))
        for place in ("agentdesk", "transcripts", "analysis")
        for path in modules_below(place)
        if re.search(r"\bMasker\(", path.read_text(encoding="utf-8"))
        and "transcripts/masking/" not in str(path.relative_to(ROOT))
        and str(path.relative_to(ROOT)) not in may
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


def committed_modules() -> dict[str, str]:
    """Source by path of every Python file as it stands in the last commit."""
    tar = subprocess.run(["git", "archive", "HEAD", "."], cwd=ROOT, capture_output=True, check=True)
    sources = {}
    with tarfile.open(fileobj=io.BytesIO(tar.stdout)) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".py"):
                file = archive.extractfile(member)
                assert file
                sources[member.name] = file.read().decode()
    return sources


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def names_made_in(tree: ast.AST) -> set[str]:
    """Names that a module has once it is imported; not those within its functions and classes."""
    names: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        else:
            names |= names_made_in(node)
    return names


def wanted_by(path: str, tree: ast.AST, made: dict[str, set[str]]) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a file imports, or of a name that none has made."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = Path(path).parts[: -node.level] if node.level else ()
            source = ".".join([*start, *filter(None, [node.module])])
            has = made.get(source, set())
            names = [alias.name for alias in node.names if alias.name not in {"*", *has}]
            yield node.lineno, source
            # With one of these a module may have any name.
            if not has & {"*", "__getattr__"}:
                yield from ((node.lineno, f"{source}.{name}") for name in names)


def missing_imports(sources: dict[str, str]) -> list[str]:
    """Imports of our own packages, wherever in a file, that `sources` do not hold."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    made = {module_name(path): names_made_in(tree) for path, tree in trees.items()}
    # A folder without __init__.py can be imported from as well.
    there = {module_name(str(above)) for path in sources for above in Path(path).parents} | set(
        made
    )
    ours = {name.split(".")[0] for name in made}
    return [
        f"{path}:{line}: {name}"
        for path, tree in trees.items()
        for line, name in wanted_by(path, tree, made)
        if name.split(".")[0] in ours and name not in there
    ]


def test_a_commit_imports_nothing_that_is_not_in_it() -> None:
    """A clone has to start: what lies here uncommitted is not there."""
    assert missing_imports(committed_modules()) == []


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        pytest.param("import transcripts.gone", "transcripts.gone", id="module"),
        pytest.param("from transcripts.gone import *", "transcripts.gone", id="from module"),
        pytest.param("from transcripts import gone", "transcripts.gone", id="of package"),
        pytest.param("from . import gone", "transcripts.gone", id="relative"),
        pytest.param("from .here import gone", "transcripts.here.gone", id="name"),
        pytest.param("def f():\n from transcripts import gone", "transcripts.gone", id="late"),
        pytest.param("import transcripts.here, django.gone", "", id="ours and another's"),
        pytest.param("from transcripts import here, VERSION", "", id="there"),
        pytest.param("from transcripts.here import a, b, C, d", "", id="all kinds of names"),
    ],
)
def test_a_missing_import_is_found(line: str, missing: str) -> None:
    here = "import os as b\nif b:\n    a: int = 1\nclass C: ...\nfor d in (): ..."
    sources = {"transcripts/__init__.py": "VERSION = 1", "transcripts/here.py": here}

    found = missing_imports({**sources, "transcripts/new.py": line})

    assert [entry.split(": ")[1] for entry in found] == ([missing] if missing else [])


def test_lock_files_hold_no_addresses() -> None:
    wrong = [
        f"{path.name}: {line}"
        for path in ROOT.glob("requirements*.lock")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "://" in line or line.startswith("-")
    ]

    assert wrong == []


def test_no_style_and_no_script_stands_in_a_template() -> None:
    """The content security policy refuses them; a page would lose them without a sound.

    A mail has no other place for its style, and no script either.
    """
    inline = re.compile(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:", re.I)
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        for found in inline.finditer(path.read_text(encoding="utf-8"))
        if found.group() != " style=" or path.parent.name != "mail"
    ]

    assert wrong == []


def test_no_template_marks_text_as_safe() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r"\|\s*safe\b|autoescape off", path.read_text(encoding="utf-8"))
    ]

    assert wrong == []


def test_no_file_holds_the_marks_of_a_merge() -> None:
    # What `git grep` answers when it finds nothing is 1.
    found = subprocess.run(
        ["git", "grep", "-nE", "^(<{7}|>{7}) ", "--", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (found.returncode, found.stdout) == (1, "")
