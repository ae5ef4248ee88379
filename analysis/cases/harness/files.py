"""Where cases come from: files, JSONL, zips, folders."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from analysis.cases.harness.reading import LARGEST_CASE, CaseError
from analysis.cases.harness.recorded import load_case, parse_case


def read_cases(path: Any) -> Iterator[tuple[str, Any]]:
    """(name, case or CaseError) of a case file, JSONL file, zip or folder, in stable order.

    Where there is no case at all, one CaseError says so: a suite of nothing must not pass.
    """
    path = Path(path)
    empty = True
    for name, case in found_in(path):
        empty = False
        yield name, case
    if empty:
        yield str(path), CaseError(f"{path}: no case in it (*.case.json)")


def found_in(path: Path) -> Iterator[tuple[str, Any]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.json")):
            if file.name.endswith("case.json"):
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
                yield entry.filename, attempt(lambda e: parse_case(unpacked(archive, e)), entry)
    except (OSError, zipfile.BadZipFile) as error:
        yield path.name, CaseError(f"{path}: {error}")


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """One entry's bytes. Raises CaseError where it is too large, encrypted or damaged."""
    if entry.file_size > LARGEST_CASE:
        raise CaseError(f"larger than {LARGEST_CASE // 1024 // 1024} MB")
    try:
        return archive.read(entry)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
        raise CaseError(f"cannot be unpacked: {error}") from None
