"""Values that the replay reads: errors, limits, canonical JSON, what counts as empty."""

from __future__ import annotations

import json
import re
from typing import Any

SCHEMA = "agentdesk.case/1"


RESULT_SCHEMA = "agentdesk.case-result/1"


ROUNDS = 200  # hard stop of a run, in rounds, where the case sets none


SECONDS = 60.0  # hard stop of a run, in seconds, where the case sets none


CALLS = 2_000  # hard stop of a run, in tool calls: a loop that only calls tools asks for no round


GRACE = 0.5  # seconds after the hard stop until the process is killed


PRINTED = 16_000  # characters kept of what a run prints: the end of it


LONGEST_TEXT = 200_000  # characters kept of one message, reply or result


LARGEST_TRANSCRIPT = 1_000_000  # characters of a replay's transcript that a result carries


LARGEST_CASE = 64 * 1024 * 1024  # bytes of one case file


SIGNIFICANT = 0.05  # below this probability, a difference is not put down to chance


ENDINGS = (
    "finished", "handed_off", "repeated_call", "round_limit",
    "cut_off", "blocked", "error", "stopped", "open",
)  # fmt: skip


# Tools that give the task to a person or another team; the same as `transcripts.endings` has.
HANDS_OFF = re.compile(
    r"^escalation$|(?:^|_)(?:escalate(?:_\w+)?"
    r"|(?:create|raise|request|open|file)_escalation|hand_?(?:ed_?)?(?:off|over)\w*"
    r"|transfer_(?:call_|chat_|ticket_|customer_|user_)?to(?!_(?:agent_)?account)\w*"
    r"|(?:assign|forward|route|pass)_(?:ticket_)?to_(?:a_)?"
    r"(?:human|person|agent|team|it|support|staff)\w*"
    r"|(?:request|call|contact|notify|page)_(?:a_)?(?:human|person|operator|on_?call)\w*)$"
)
MOVES_MONEY = re.compile(r"account|bank|wallet|fund|payment|iban")
WORD_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
READS_FAILED = re.compile(
    r"(?i)\b(errors?|fail(s|ed|ures?)?|denied|forbidden|unauthori[sz]ed|permissions?|exception|"
    r"time[ds]?[- ]?out|refused|rejected|invalid|unable|unavailable|unsuccessful|could ?n[o']t|"
    r"can ?not|can't|not (permitted|allowed|found|done|possible|available|recorded)|[45]\d\d)\b"
)


PAYLOADS = ("content", "result", "results", "data", "output", "items", "response")


class CaseError(Exception):
    """A case that cannot be replayed; the text says why, and where in the file."""


class ToolFailed(Exception):
    """A tool failed, as a mock says; also an instance of the exception that the mock names."""


class ModelFailed(Exception):
    """The service failed in this round, as recorded; the text is the service's own."""


class HardStop(BaseException):
    """The run is over: the script has no further reply, or a limit is reached.

    No `Exception`, so that a loop that catches those does not go on. `ending` is the run's.
    """

    def __init__(self, why: str, ending: str = "open") -> None:
        super().__init__(why)
        self.ending = ending


def canonical(value: Any) -> str:
    """JSON with keys sorted at every level; text that is no JSON is trimmed."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return str(value).strip()
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def call_key(name: str, args: Any) -> str:
    return f"{name} {canonical(args)}"


def folded(text: str) -> str:
    return " ".join(text.split())


def brief(text: Any, most: int = 160) -> str:
    """One line of `text`, cut where it is longer than `most` characters, and said so."""
    line = folded(text if isinstance(text, str) else canonical(text))
    return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"


def is_empty(text: str) -> bool:
    """Nothing in it: blank, an empty JSON value, or an envelope whose payload is empty."""
    bare = text.strip()
    if bare in ("", "null", "None", '""', "''", "{}", "[]"):
        return True
    if not bare.startswith("{"):
        return False
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return False
    payloads = [value[name] for name in PAYLOADS if isinstance(value, dict) and name in value]
    return bool(payloads) and all(item in (None, "", [], {}) for item in payloads)


def covers(asked: Any, args: Any) -> bool:
    """Whether `args` holds every pair of `asked`; None asks for nothing."""
    if asked is None:
        return True
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            return False
    if not isinstance(args, dict):
        return canonical(asked) == canonical(args)
    return all(name in args and canonical(args[name]) == canonical(asked[name]) for name in asked)


def cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}… [{len(text) - LONGEST_TEXT} characters cut]"


def hands_off(name: str) -> bool:
    """Whether a tool of this name gives the task to a person or another team."""
    words = WORD_EDGE.sub("_", name).strip("_").casefold()
    return bool(HANDS_OFF.search(words)) and not MOVES_MONEY.search(words)
