"""What the closed sets of the analysis are called on pages, and their tone (one colour, one
meaning).
"""

from __future__ import annotations

import re

from analysis.choices import Severity, VerdictKind
from analysis.detectors import detector_named
from analysis.strip import REPETITIONS

# Detectors put what they cite from a transcript between these marks; an unclosed one hides the
# rest.
QUOTED = re.compile(r"“[^”]*(?:”|$)")
# What a colon joins to a sentence that is whole without it.
AFTER_COLON = re.compile(r": “…”(?=[.;,]|$)")

VERDICTS: dict[str, tuple[str, str]] = {
    VerdictKind.STILL_GOING: ("Still going", "live"),
    VerdictKind.STOPPED: ("Stopped", "breach"),
    VerdictKind.HANDED_OFF: ("Handed off", "warn"),
    VerdictKind.CUT_OFF: ("Cut off", "bad"),
    VerdictKind.BLOCKED: ("Blocked", "bad"),
    VerdictKind.UNKNOWN: ("Unknown stop", "warn"),
    VerdictKind.LIMIT_PASSED: ("Limit passed", "breach"),
    VerdictKind.REPEATS: ("Repeats itself", "breach"),
    VerdictKind.NEVER_FINISHED: ("Never finished", "breach"),
    VerdictKind.ERROR: ("Error", "bad"),
    VerdictKind.CLAIMS: ("Claims too much", "bad"),
    VerdictKind.UNRESOLVED: ("Finished, in trouble", "warn"),
    VerdictKind.RECOVERED: ("Recovered", "good"),
    VerdictKind.FINISHED: ("Finished", "good"),
}
TRIMMED = ("ticket_lost", "context_trimmed")
LOST_OR_LEFT_OPEN = frozenset({*TRIMMED, "never_finished", "round_limit_passed"})
NOT_ANALYSED = ("Not analysed yet", "quiet")
SEVERITIES: dict[str, tuple[str, str]] = {
    Severity.LEAD: ("worth a look", "warn"),
    Severity.FAULT: ("went wrong here", "bad"),
    Severity.BREACH: ("limit passed", "breach"),
}


def verdict_label(kind: str | None) -> tuple[str, str]:
    """A verdict's label and tone."""
    return VERDICTS.get(kind or "", NOT_ANALYSED)


def finding_tone(detector: str, severity: str) -> str:
    """The colour class of a finding, by what it says."""
    if detector in REPETITIONS or detector == "repeated_reply":
        return "warn"
    if detector in TRIMMED or (detector in LOST_OR_LEFT_OPEN and severity != Severity.LEAD):
        return "breach"
    return SEVERITIES.get(severity, ("", "quiet"))[1]


def detector_title(name: str) -> str:
    """A detector's title, also of one that is no longer there: "Empty result"."""
    known = detector_named(name)
    return known.title if known else name.replace("_", " ").capitalize()


def without_quotes(text: str) -> str:
    """A sentence of the analysis for who may not read transcripts: what it quotes is left out."""
    return AFTER_COLON.sub("", QUOTED.sub("“…”", text))
