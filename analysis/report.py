"""The plain text report on one run."""

from __future__ import annotations

from textwrap import wrap

from analysis.detectors.base import Finding
from analysis.detectors.reading.words import count, span
from analysis.suite import Analysis
from transcripts.record import RunRecord, count_by

WIDTH = 100
CAME_TO_NOTHING = frozenset({"empty_result", "failed_result", "hidden_error", "unanswered_call"})
# Findings that are told in full; the JSON report holds all of them.
MOST_TOLD = 40


def text_report(run: RunRecord, analysis: Analysis, name: str = "") -> str:
    """The report, ending with an empty line. `name` heads it where there are several."""
    lines = [f"== {name}: run {run.run_id}"] if name else []
    lines += [_stops(run), _first_bad(analysis), _third_call(analysis), ""]
    lines += wrap(analysis.verdict.sentence, WIDTH)
    flag = "flagged" if analysis.verdict.flagged else "not flagged"
    found = count(len(analysis.findings), "finding") if analysis.findings else "no findings"
    lines += [f"{flag}, {found}", ""]
    for finding in analysis.findings[:MOST_TOLD]:
        lines += _finding(finding)
    more = len(analysis.findings) - MOST_TOLD
    if more > 0:
        lines += [f"{count(more, 'more finding')}, all of them with --json", ""]
    for detector, error in analysis.errors.items():
        lines += [f"detector {detector} failed with {error}: it says nothing of this run", ""]
    return "\n".join(map(printable, lines)) + "\n"


def printable(line: str) -> str:
    """Transcripts may hold control characters that would speak to the terminal."""
    if line.isprintable():
        return line
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in line)


def _stops(run: RunRecord) -> str:
    stops = count_by(round_.stop.value for round_ in run.rounds)
    told = ", ".join(f"{stop} {times}" for stop, times in stops.items()) or "none"
    return f"{count(len(run.rounds), 'round')}, stop reasons: {told}"


def _first_bad(analysis: Analysis) -> str:
    found = next((each for each in analysis.findings if each.detector in CAME_TO_NOTHING), None)
    if found is None:
        return "first empty or failed result: none"
    what = found.values.get("returned") or found.values.get("error") or "failed"
    return f"first empty or failed result: round {found.round}, {found.tool}: {what}"


def _third_call(analysis: Analysis) -> str:
    found = next((each for each in analysis.findings if each.detector == "repeated_call"), None)
    if found is None:
        return "first third identical call: none"
    return f"first third identical call: round {found.round}, {found.tool}"


def _finding(finding: Finding) -> list[str]:
    place = span(finding.round, finding.to_round or finding.round)
    how = "handed off" if finding.handed_off else "made up for"
    made_up = f", {how} in round {finding.recovered_at}" if finding.recovered_at else ""
    head = f"{finding.severity.value}: {finding.title.lower()}, {place}{made_up}"
    return [
        head,
        *_indented("", finding.why),
        *_indented("likely cause: ", finding.cause),
        *_indented("fix in code: ", finding.fix),
        "",
    ]


def _indented(label: str, text: str) -> list[str]:
    return wrap(label + text, WIDTH, initial_indent="  ", subsequent_indent="    ")
