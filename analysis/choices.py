"""Closed sets of the analysis."""

from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: worth a look, a fault, or a limit that code should have kept."""

    LEAD = "lead"
    FAULT = "fault"
    BREACH = "breach"


class VerdictKind(StrEnum):
    """The branches of the verdict chart, in order: the first that matches wins."""

    STILL_GOING = "still_going"
    STOPPED = "stopped"
    HANDED_OFF = "handed_off"
    CUT_OFF = "cut_off"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    ERROR = "error"
    LIMIT_PASSED = "limit_passed"
    REPEATS = "repeats"
    NEVER_FINISHED = "never_finished"
    CLAIMS = "claims"
    UNRESOLVED = "unresolved"
    RECOVERED = "recovered"
    FINISHED = "finished"
