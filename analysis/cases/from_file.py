"""`./desk case FILE…`: test cases from transcripts of any known format, offline and masked.

Exit status: 0 every run became a case, 2 one could not be read, or not be replayed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from analysis.cases.case import write_case
from analysis.cases.export_pytest import export_zip, file_name
from analysis.cases.harness import CaseError
from analysis.cases.making import case_id_of, suggested_case
from analysis.check import Problem, check_file


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    status = 0
    cases = []
    for path in options.files:
        for made in cases_of(path, format=options.format, run_id=options.run):
            if isinstance(made, Problem):
                print(": ".join(filter(None, (made.file, made.at, made.error))), file=sys.stderr)
                status = 2
            else:
                cases.append(made)
    if not cases:
        print("case: no run became a case", file=sys.stderr)
        return 2
    try:
        for written in write(cases, options):
            print(written)
    except (OSError, ValueError) as error:
        print(f"case: {error}", file=sys.stderr)
        return 2
    return status


def cases_of(path: str, *, format: str, run_id: str) -> Iterator[dict[str, Any] | Problem]:
    """A case for each run of a file, or what keeps it from being one."""
    for found in check_file(path, format=format):
        if isinstance(found, Problem):
            yield found
            continue
        record = found.masked.record
        if run_id and record.run_id != run_id:
            continue
        try:
            yield suggested_case(found.masked, case_id=case_id_of(record.run_id))
        except CaseError as error:
            yield Problem(path, f"run {record.run_id}", str(error))


def write(cases: Sequence[dict[str, Any]], options: argparse.Namespace) -> Iterator[str]:
    """Write the zip, or a file for each case; gives the names of what was written."""
    if options.zip:
        Path(options.zip).write_bytes(export_zip(cases, folder=Path(options.zip).stem))
        yield options.zip
        return
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases:
        file = folder / f"{file_name(case['case_id'])}.case.json"
        if file.exists() and not options.replace:
            raise ValueError(f"{file} is there already, maybe edited; --replace writes over it")
        file.write_text(write_case(case), encoding="utf-8")
        yield str(file)


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="case", description="Make test cases of transcripts.")
    options.add_argument("files", nargs="+", metavar="FILE")
    options.add_argument("--format", default="auto", help="an importer's name (auto)")
    options.add_argument("--run", default="", metavar="ID", help="only the run of this id")
    options.add_argument("--out", default=".", metavar="FOLDER", help="where to write (here)")
    options.add_argument("--replace", action="store_true", help="write over files that are there")
    options.add_argument("--zip", metavar="FILE", help="write one zip that pytest runs, instead")
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
