"""`./desk check FILE…`: the whole chain over files, offline: read, mask, analyse, report.

Exit status: 0 every run is clean, 1 a run is flagged, 2 something could not be read.
"""

from __future__ import annotations

import argparse
import gc
import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from analysis.detectors.limits import DEFAULT, Limits, LimitsError, load_limits
from analysis.report import text_report
from analysis.suite import Analysis, analyse
from transcripts.endings import with_ending
from transcripts.importers import ImportProblem, UnreadableError, all_importers, read_runs
from transcripts.masking import MaskedRun, Masker, MaskingError
from transcripts.record import ENDED_BY_ITSELF, completeness, count_by

CLEAN, FLAGGED, UNREADABLE = 0, 1, 2
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Checked:
    """One run of a file, masked, with what the suite says of it."""

    file: str
    masked: MaskedRun
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read: of which file, where in it, and why."""

    file: str
    at: str
    error: str


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        limits = load_limits(options.limits) if options.limits else DEFAULT
    except (LimitsError, OSError) as error:
        print(f"check: limits: {_in_words(error)}", file=sys.stderr)
        return UNREADABLE
    # What is read is kept to the end; collecting it over and over costs a third of the time.
    gc.disable()
    runs: list[dict[str, Any]] = []
    problems: list[Problem] = []
    status = CLEAN
    out = _tolerant(sys.stdout)
    for path in options.files:
        for found in check_file(path, format=options.format, limits=limits):
            if isinstance(found, Problem):
                problems.append(found)
                if not options.json:
                    print(_problem_line(found), file=sys.stderr)
                continue
            if found.analysis.verdict.flagged:
                status = FLAGGED
            if options.json:
                runs.append(run_report(found))
            else:
                name = found.file if len(options.files) > 1 or len(runs) else ""
                runs.append({})
                out.write(text_report(found.masked.record, found.analysis, name))
    if options.json:
        report = {"runs": runs, "errors": [asdict(problem) for problem in problems]}
        out.write(json.dumps(report, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    out.flush()
    return UNREADABLE if problems else status


def check_file(
    path: str, *, format: str = "auto", limits: Limits = DEFAULT
) -> Iterator[Checked | Problem]:
    """Every run of one file (`-`: standard input), and what of it could not be read."""
    try:
        content = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        yield Problem(path, "", error.strerror or str(error))
        return
    name = "stdin" if path == STDIN else Path(path).stem
    try:
        for found in read_runs(content, format=format, default_run_id=name):
            if isinstance(found, ImportProblem):
                yield Problem(path, found.at, found.error)
                continue
            try:
                yield _checked(path, found, limits)
            except MaskingError as error:
                yield Problem(path, f"run {found.run_id}", f"cannot be masked: {error}")
    except UnreadableError as error:
        yield Problem(path, error.problem.at, error.problem.error)


def run_report(checked: Checked) -> dict[str, Any]:
    """One run as `check --json` prints it."""
    run, analysis = checked.masked.record, checked.analysis
    verdict, odd = analysis.verdict, analysis.verdict.first_odd
    return {
        "file": checked.file,
        "run_id": run.run_id,
        "rounds": len(run.rounds),
        "stops": count_by(round_.stop.value for round_ in run.rounds),
        "raw_stops": count_by(r.stop_raw for r in run.rounds if r.stop_raw is not None),
        "ending": run.ending.value if run.ending else None,
        "ended_by_itself": run.ending in ENDED_BY_ITSELF,
        "verdict": verdict.sentence,
        "verdict_kind": verdict.kind.value,
        "flagged": verdict.flagged,
        "first_odd_round": odd
        and {
            "round": odd.round,
            "detector": odd.detector,
            "tool": odd.tool,
            "why": odd.why,
            "recovered_at": odd.recovered_at,
        },
        "findings": [
            {
                "detector": finding.detector,
                "version": finding.version,
                "severity": finding.severity.value,
                "odd": finding.odd,
                "round": finding.round,
                "to_round": finding.to_round,
                "call": finding.call,
                "tool": finding.tool,
                "why": finding.why,
                "cause": finding.cause,
                "fix": finding.fix,
                "evidence": [asdict(place) for place in finding.evidence],
                "values": plain_values(finding.values),
                "recovered_at": finding.recovered_at,
            }
            for finding in analysis.findings
        ],
        "wasted": plain_values(asdict(analysis.wasted)),
        "completeness": _completeness(checked),
        "masked": dict(checked.masked.receipt.hits),
        "detector_errors": analysis.errors,
    }


def plain_values(values: Any) -> Any:
    """Values as strict JSON has them: amounts as text, no NaN, tuples as lists."""
    if isinstance(values, dict) or hasattr(values, "items"):
        return {str(name): plain_values(each) for name, each in values.items()}
    if isinstance(values, list | tuple | set | frozenset):
        return [plain_values(each) for each in values]
    if values is None or isinstance(values, bool | int | str):
        return values
    if isinstance(values, float):
        return values if values == values and abs(values) != float("inf") else None
    return str(values)


def _checked(path: str, found: Any, limits: Limits) -> Checked:
    run = with_ending(found, live=False)
    # Placeholders need to agree within one report only, so the key is made up.
    masker = Masker(key=secrets.token_bytes(32), project="check", run=run.run_id)
    masked = masker.run(run)
    return Checked(path, masked, analyse(masked.record, limits))


def _completeness(checked: Checked) -> dict[str, Any]:
    statement = completeness(checked.masked.record)
    return {**plain_values(asdict(statement)), "complete": statement.complete}


def _problem_line(problem: Problem) -> str:
    place = f", {problem.at}" if problem.at else ""
    return f"{problem.file}{place}: {problem.error}"


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    return str(error)


def _tolerant(stream: TextIO) -> TextIO:
    """Transcripts may hold what the terminal's encoding cannot show."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="check", description="Say what is odd in transcripts, offline."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a transcript; - reads stdin")
    names = ["auto", *(importer.name for importer in all_importers())]
    parser.add_argument("--format", choices=names, default="auto", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--limits", type=Path, metavar="FILE", help="limits, as JSON or TOML (docs/limits.md)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
