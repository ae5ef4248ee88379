"""Where cases come from: files, JSONL, zips, folders."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from analysis.cases.harness.reading import LARGEST_CASE, CaseError
from analysis.cases.harness.recorded import load_case, parse_case


def read_cases(path: Any) -> Iterator[tuple[str, Any]]:
    """(name, case or CaseError) of a case file, JSONL file, zip or folder, in stable order."""
    path = Path(path)
    if path.is_dir():
        files = sorted(f for f in path.rglob("*.json") if f.name.endswith("case.json"))
        if not files:
            yield str(path), CaseError(f"{path}: no case in this folder (*.case.json)")
        for file in files:
            yield str(file.relative_to(path)), attempt(load_case, file)
    elif path.suffix == ".jsonl":
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{path.name}:{number}", attempt(parse_case, line)
    elif path.suffix == ".zip":
        yield from read_zip(path)
    else:
        yield path.name, attempt(load_case, path)


def attempt(read: Callable[[Any], dict[str, Any]], source: Any) -> Any:
    try:
        return read(source)
    except CaseError as error:
        return error


def read_zip(path: Path) -> Iterator[tuple[str, Any]]:
    """The cases of a zip. They are data: nothing of it is unpacked or run."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [e for e in archive.infolist() if e.filename.endswith("case.json")]
            for entry in sorted(entries, key=lambda e: e.filename):
                if entry.file_size > LARGEST_CASE:
                    yield entry.filename, CaseError(f"{entry.filename}: too large")
                else:
                    yield entry.filename, attempt(parse_case, archive.read(entry))
    except (OSError, zipfile.BadZipFile) as error:
        yield path.name, CaseError(f"{path}: {error}")
