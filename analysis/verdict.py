"""Findings to one plain sentence, flagged or not, and the first odd round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.choices import Severity, VerdictKind
from analysis.detectors import detector_named
from analysis.detectors.base import Finding
from analysis.detectors.reading import Reading
from analysis.detectors.reading.words import count, quoted
from transcripts.endings import hands_off
from transcripts.record import Ending, Stop

NOT_FLAGGED = frozenset({VerdictKind.STILL_GOING, VerdictKind.RECOVERED, VerdictKind.FINISHED})
REPETITIONS = frozenset({"repeated_call", "alternating_calls", "near_repeat", "no_progress"})
LIMITS = frozenset({"round_limit_passed", "time_limit_passed", "cost_anomaly"})
# Arguments by which a call that hands the task off says why, the most telling first.
HAND_OFF_ARGUMENTS = ("reason", "summary", "message", "description", "notes", "note", "details")
HAND_OFF_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class FirstOdd:
    """Where the run went wrong first; a lead, not proof.

    `why` is the kind in a word or two ("empty result"), `brief` a clause ("reset_vpn_profile
    returned nothing"). `recovered_at` is the round that made up for it, where every odd finding
    was recovered; `handed_off`: it only handed the task off.
    """

    round: int
    call: int | None
    detector: str
    tool: str
    why: str
    brief: str
    recovered_at: int | None
    handed_off: bool


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the sentence; `round` makes it a link to that round."""

    text: str
    round: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictResult:
    """The verdict: `sentence` is `parts` in one."""

    kind: VerdictKind
    flagged: bool
    parts: tuple[Part, ...]
    first_odd: FirstOdd | None

    @property
    def sentence(self) -> str:
        return "".join(part.text for part in self.parts)


def verdict_of(reading: Reading, findings: Sequence[Finding]) -> VerdictResult:
    """The verdict on a run, from its ending and its findings (in their order)."""
    first_odd = first_odd_of(findings)
    kind = _kind(reading, findings, first_odd)
    standing = any(
        finding.recovered_at is None and finding.severity in (Severity.FAULT, Severity.BREACH)
        for finding in findings
    )
    parts = [Part(_opening(kind, reading, findings)), *_first_odd_part(kind, first_odd)]
    further = _repeats_and_loss(findings, first_odd)
    if kind == VerdictKind.UNRESOLVED and first_odd is None and not further:
        further = _first_trouble(findings)
    parts += further
    return VerdictResult(kind, standing or kind not in NOT_FLAGGED, tuple(parts), first_odd)


def first_odd_of(findings: Sequence[Finding]) -> FirstOdd | None:
    """The earliest odd finding that the run did not recover from; else the earliest of all."""
    odd = [finding for finding in findings if finding.odd]
    if not odd:
        return None
    finding = next((each for each in odd if each.recovered_at is None), odd[0])
    detector = detector_named(finding.detector)
    return FirstOdd(
        round=finding.round,
        call=finding.call,
        detector=finding.detector,
        tool=finding.tool,
        why=(detector.title if detector else finding.title).lower(),
        brief=finding.brief,
        recovered_at=finding.recovered_at,
        handed_off=finding.handed_off,
    )


def _kind(reading: Reading, findings: Sequence[Finding], first_odd: FirstOdd | None) -> VerdictKind:
    """The first branch of the chart that matches."""
    ending = reading.run.ending
    last = reading.rounds[-1].stop if reading.rounds else None
    by_ending = {
        Ending.OPEN: VerdictKind.STILL_GOING,
        Ending.HANDED_OFF: VerdictKind.HANDED_OFF,
        Ending.CUT_OFF: VerdictKind.CUT_OFF,
        Ending.BLOCKED: VerdictKind.BLOCKED,
        Ending.ERROR: VerdictKind.ERROR,
    }
    if ending in by_ending:
        return by_ending[ending]
    if ending == Ending.STOPPED and reading.run.ending_reason.strip():
        return VerdictKind.STOPPED
    if ending != Ending.FINISHED and last == Stop.UNKNOWN:
        return VerdictKind.UNKNOWN
    if ending == Ending.ROUND_LIMIT or any(
        finding.detector in LIMITS and finding.severity == Severity.BREACH for finding in findings
    ):
        return VerdictKind.LIMIT_PASSED
    if ending != Ending.FINISHED:
        repeats = any(_repeats(finding) for finding in findings)
        if repeats or ending == Ending.REPEATED_CALL:
            return VerdictKind.REPEATS
        return VerdictKind.NEVER_FINISHED
    return _finished_kind(findings)


def _finished_kind(findings: Sequence[Finding]) -> VerdictKind:
    if any(finding.detector == "claimed_success" for finding in findings):
        return VerdictKind.CLAIMS
    grave = [finding for finding in findings if finding.severity != Severity.LEAD]
    if any(finding.recovered_at is None for finding in grave):
        return VerdictKind.UNRESOLVED
    if grave or any(finding.odd for finding in findings):
        return VerdictKind.RECOVERED
    return VerdictKind.FINISHED


def _repeats(finding: Finding) -> bool:
    return finding.detector in REPETITIONS and finding.severity != Severity.LEAD


def _opening(kind: VerdictKind, reading: Reading, findings: Sequence[Finding]) -> str:
    rounds = count(len(reading.rounds), "round")
    reason = reading.run.ending_reason.strip().rstrip(".")
    because = f": {quoted(reason)}" if reason else ""
    limit = next(
        (
            finding.brief
            for finding in findings
            if finding.detector in LIMITS and finding.severity == Severity.BREACH
        ),
        "",
    )
    return {
        VerdictKind.STILL_GOING: f"Still going: {rounds} so far.",
        VerdictKind.STOPPED: f"Stopped from outside after {rounds}{because}.",
        VerdictKind.HANDED_OFF: f"Handed off after {rounds}{because or _hand_off_words(reading)}.",
        VerdictKind.CUT_OFF: f"The last reply was cut off, after {rounds}{because}.",
        VerdictKind.BLOCKED: f"The last reply was blocked, after {rounds}{because}.",
        VerdictKind.UNKNOWN: _unknown_opening(reading, rounds),
        VerdictKind.ERROR: f"Ended with an error after {rounds}{because or _last_error(reading)}.",
        VerdictKind.LIMIT_PASSED: _limit_opening(reading, limit, rounds, because),
        VerdictKind.REPEATS: f"Did not end by itself: {rounds}, {_stops(reading)}.",
        VerdictKind.NEVER_FINISHED: f"Did not end by itself: {rounds}, {_stops(reading)}.",
        VerdictKind.CLAIMS: f"Finished after {rounds}, but says done what did not happen.",
        VerdictKind.UNRESOLVED: f"Finished after {rounds}, with trouble that it did not get over.",
        VerdictKind.RECOVERED: f"Finished after {rounds}, after trouble that it recovered from.",
        VerdictKind.FINISHED: (
            f"Finished by itself after {rounds}, nothing odd."
            if reading.rounds
            else "Said to be finished, but no round of it came."
        ),
    }[kind]


def _hand_off_words(reading: Reading) -> str:
    """What the call that handed the task off said of it; empty where it said nothing."""
    call = next((each for each in reversed(reading.calls) if hands_off(each.name)), None)
    if call is None or not isinstance(call.args, dict):
        return ""
    said = {str(name).casefold(): value for name, value in call.args.items()}
    for name in HAND_OFF_ARGUMENTS:
        words = said.get(name)
        if isinstance(words, str) and words.strip():
            return f": {quoted(words.strip().rstrip('.'), HAND_OFF_CHARACTERS)}"
    return ""


def _limit_opening(reading: Reading, limit: str, rounds: str, because: str) -> str:
    if reading.run.ending == Ending.FINISHED:
        return f"Finished after {rounds}, but {limit}."
    if limit:
        return f"Did not end by itself: {limit}, {rounds}, {_stops(reading)}."
    return f"Stopped at the round limit after {rounds}{because}."


def _unknown_opening(reading: Reading, rounds: str) -> str:
    opening = f"Ended for an unknown reason after {rounds}"
    if all(round_.stop == Stop.UNKNOWN for round_ in reading.rounds):
        return f"{opening}."
    return f"{opening}: {_stops(reading)}."


def _last_error(reading: Reading) -> str:
    error = reading.rounds[-1].error.strip() if reading.rounds else ""
    return f": {quoted(error)}" if error else ""


def _stops(reading: Reading) -> str:
    """How the replies stopped: "every one wanted a tool", "49 wanted a tool, 3 were cut off"."""
    if not reading.rounds:
        return "no reply at all"
    words = {
        Stop.WANTS_TOOL: "wanted a tool",
        Stop.FINISHED: "finished",
        Stop.CUT_OFF: "cut off",
        Stop.BLOCKED: "blocked",
        Stop.ERROR: "failed",
        Stop.UNKNOWN: "stopped for an unknown reason",
    }
    passive = {Stop.CUT_OFF, Stop.BLOCKED}
    counts: dict[Stop, int] = {}
    for round_ in reading.rounds:
        counts[round_.stop] = counts.get(round_.stop, 0) + 1
    if len(counts) == 1:
        stop, total = next(iter(counts.items()))
        subject = "it" if total == 1 else "every one"
        return f"{subject} {'was ' if stop in passive else ''}{words[stop]}"
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    told = [
        f"{total} {('was ' if total == 1 else 'were ') if stop in passive else ''}{words[stop]}"
        for stop, total in ordered
    ]
    return ", ".join(told)


def _first_odd_part(kind: VerdictKind, first_odd: FirstOdd | None) -> list[Part]:
    if first_odd is None:
        return []
    how = "handed off" if first_odd.handed_off else "made up for"
    after = f"; {how} in round {first_odd.recovered_at:,}" if first_odd.recovered_at else ""
    return [
        Part(" "),
        Part(f"First odd round: {first_odd.round:,}", first_odd.round),
        Part(f", {first_odd.brief}{after}."),
    ]


def _repeats_and_loss(findings: Sequence[Finding], first_odd: FirstOdd | None) -> list[Part]:
    """ " From round 7 the same call repeats; from round 40 the ticket is no longer in …" """
    clauses: list[tuple[int, str]] = []
    repeat = next(
        (each for each in findings if each.detector == "repeated_call" and _repeats(each)), None
    )
    other = next((each for each in findings if _repeats(each)), None)
    if repeat is not None:
        clauses.append((repeat.round, f"the same call repeats{_until(repeat)}"))
    elif other is not None:
        began = min((place.round for place in other.evidence), default=other.round)
        clauses.append((began, f"{other.brief}{_until(other)}"))
    lost = next((each for each in findings if each.detector == "ticket_lost"), None)
    if lost is not None and (first_odd is None or first_odd.detector != "ticket_lost"):
        clauses.append((lost.round, lost.brief))
    parts: list[Part] = []
    for position, (number, text) in enumerate(sorted(clauses)):
        parts.append(Part(" " if position == 0 else "; "))
        start = "From" if position == 0 else "from"
        parts.append(Part(f"{start} round {number:,}", number))
        parts.append(Part(f" {text}"))
    if parts:
        parts.append(Part("."))
    return parts


def _until(finding: Finding) -> str:
    return f", until round {finding.recovered_at:,}" if finding.recovered_at else ""


def _first_trouble(findings: Sequence[Finding]) -> list[Part]:
    """ " By round 21 the same reply comes again and again.", where nothing else says it."""
    standing = next(
        (
            each
            for each in findings
            if each.recovered_at is None and each.severity != Severity.LEAD and each.brief
        ),
        None,
    )
    if standing is None:
        return []
    return [
        Part(" "),
        Part(f"By round {standing.round:,}", standing.round),
        Part(f" {standing.brief}."),
    ]
