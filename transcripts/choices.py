"""Closed sets that are kept in columns."""

from django.db.models import TextChoices

from transcripts.record import Ending as RecordEnding
from transcripts.record import Stop


class StopReason(TextChoices):
    """A plain stop reason, as people read it."""

    FINISHED = Stop.FINISHED.value, "finished"
    WANTS_TOOL = Stop.WANTS_TOOL.value, "wants a tool"
    CUT_OFF = Stop.CUT_OFF.value, "cut off"
    BLOCKED = Stop.BLOCKED.value, "blocked"
    ERROR = Stop.ERROR.value, "error"
    UNKNOWN = Stop.UNKNOWN.value, "unknown"


class Ending(TextChoices):
    """How a run ended, as people read it."""

    FINISHED = RecordEnding.FINISHED.value, "finished"
    HANDED_OFF = RecordEnding.HANDED_OFF.value, "handed off"
    REPEATED_CALL = RecordEnding.REPEATED_CALL.value, "stopped at a repeated call"
    ROUND_LIMIT = RecordEnding.ROUND_LIMIT.value, "stopped at the round limit"
    CUT_OFF = RecordEnding.CUT_OFF.value, "cut off"
    BLOCKED = RecordEnding.BLOCKED.value, "blocked"
    ERROR = RecordEnding.ERROR.value, "error"
    STOPPED = RecordEnding.STOPPED.value, "stopped from outside"
    OPEN = RecordEnding.OPEN.value, "still going"


class Role(TextChoices):
    """What a member of a project may do; see `transcripts.access`."""

    OBSERVER = "observer", "Observer"
    LEAD = "lead", "Lead"
    ENGINEER = "engineer", "Engineer"
    ADMIN = "admin", "Administrator"


class KeyScope(TextChoices):
    """What an API key may do: send runs, read them, or make test cases and report on them."""

    INGEST = "ingest", "send runs"
    READ = "read", "read runs"
    RESULTS = "results", "make test cases and report results"


class DeliveryState(TextChoices):
    """What became of a delivery.

    `held` was uploaded by a person and waits for their word, with its body sealed;
    `accepted` waits for a worker, likewise; `stored` is done and its body is emptied;
    `quarantined` could not be imported or masked, its body is kept sealed; `discarded` was given up
    by a person, its body is emptied.
    """

    HELD = "held", "waiting to be confirmed"
    ACCEPTED = "accepted", "waiting"
    STORED = "stored", "stored"
    QUARANTINED = "quarantined", "in quarantine"
    DISCARDED = "discarded", "discarded"


class DeliveryKind(TextChoices):
    """What a delivery asks for."""

    RUNS = "runs", "whole runs"
    ROUNDS = "rounds", "rounds of a live run"
    END = "end", "the end of a run"
    FILE = "file", "a file"
    SPANS = "spans", "spans of OpenTelemetry"


class InputKind(TextChoices):
    """What a round's stored change of the input counts from."""

    NONE = "", "nothing said of the input"
    CHANGE = "change", "the input of the round before"
    WHOLE = "whole", "nothing: the whole input, the round before is not there"
    LOOSE = "loose", "a round that is not there, so that the input is not known"


class Removal(TextChoices):
    """What of a run is still being removed, by a worker in steps."""

    NONE = "", "nothing"
    TEXT = "text", "its transcript"
    RUN = "run", "all of it"


# How the result of a call was joined to it, where it was removed: it is not one that never came.
REMOVED = "removed"


class AccessAction(TextChoices):
    """What a line of the audit log records."""

    READ = "read", "read transcript"
    FIND = "find", "searched transcript"
    EXPORT = "export", "exported"
    MEMBER = "member", "changed members"
    KEY = "key", "changed keys"
    QUARANTINE = "quarantine", "decided on a delivery"
    SETTINGS = "settings", "changed settings"
    SIGN_IN = "sign_in", "signed in"
    TRIAGE = "triage", "assigned or labelled"
    INCIDENT = "incident", "changed an incident"
    ANNOTATE = "annotate", "annotated"
    CASE = "case", "changed a test case"
    DELETE = "delete", "deleted"
    HOLD = "hold", "changed a legal hold"
    RETENTION = "retention", "removed by retention"
    UNDO = "undo", "took a change back"
    SIGN_OUT = "sign_out", "signed out"
    SIGN_FAILED = "sign_failed", "failed to sign in"
    PASSWORD = "password", "changed password"
    FACTOR = "factor", "changed second factor"
    INVITE = "invite", "invited"
    ADDRESS = "address", "changed e-mail address"


def access_actions() -> list[tuple[str, str]]:
    """A function, so that a new action needs no migration: the column takes any."""
    return list(AccessAction.choices)
