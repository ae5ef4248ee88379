"""When two calls, and two results, count as the same."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import word_set

# Argument names whose value the caller makes up anew for each call, so that it says nothing about
# what was asked. Names that may point at a thing of the world (`request_id`) are left alone.
THROWAWAY_ARGS = word_set(
    """
    nonce idempotency_key idempotencykey trace_id traceid span_id correlation_id
    correlationid client_request_id client_token request_uuid invocation_id tool_call_id
    call_id
    """
)

# The same for names that point at a thing of the world as often, where the value is a random one.
REQUEST_ARGS = word_set(
    """
    request_id requestid requestId req_id client_id_token message_uuid
    """
)

# Names of values that differ between two answers to one question although nothing else does.
VOLATILE_NAMES = word_set(
    """
    request_id requestid request_uuid trace_id traceid span_id correlation_id correlationid
    response_id invocation_id timestamp time ts now date server_time servertime checked_at
    fetched_at retrieved_at generated_at queried_at as_of duration duration_ms elapsed
    elapsed_ms took took_ms latency latency_ms execution_time runtime_ms etag nonce
    x_request_id
    """
)

# Characters whose words are compared first, and how many of them ids and time stamps may change.
HEAD = 400
MOST_VOLATILE_WORDS = 12

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp][Mm])?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
_STAMP = rf"\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}(?:[T ]{_CLOCK}{_ZONE})?"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
_VOLATILE = Pattern(
    rf"(?i:\b(?:request|trace|correlation|span|invocation|response)[ _-]?(?:id|uuid|no|number)?"
    rf"[\"']?\s?[:=#]\s?[\"']?)[\w.:-]+"
    rf"|\b(?:req|trace|rid|inv|resp)[_-][0-9A-Za-z]{{4,}}\b"
    rf"|(?i:\b(?:checked|fetched|retrieved|generated|queried|as of|as at|timestamp"
    rf"|time(?: now)?|now|"
    rf"date|server[ _]time)(?:[ _](?:at|on))?[\"']?\s?[:=]?\s?[\"']?)(?:{_STAMP}"
    rf"|{_CLOCK}{_ZONE}|1[0-9]{{9}}(?:[0-9]{{3}})?)"
    rf"|(?i:\b(?:took|elapsed|duration|in|after|time"
    rf"|latency)[\"']?\s?[:=]?\s?)\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds|µs)\b"
    rf"|^\W?{_STAMP}|^\W?{_CLOCK}{_ZONE}"
    rf"|\b{_UUID}\b"
)
_RANDOM = Pattern(rf"^(?:{_UUID}|[0-9a-fA-F]{{16,64}})$")
_DIGITS = Pattern(
    r"\d{4}|\d:\d|\d\s?m?s\b|[A-Za-z]{2,}[_ -]?[iI][dD]|(?:req|trace|rid|inv|resp)[_-]"
)


def parse_json(text: str) -> Any:
    """The JSON value of `text`; raises ValueError when it is none (or is nested too deep to
    read).
    """
    try:
        return msgspec.json.decode(str(text))
    except (msgspec.DecodeError, UnicodeError):
        pass
    except RecursionError:
        raise ValueError("nested too deep") from None
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def canonical_json(value: Any) -> str:
    """JSON text with keys sorted at every level. Raises ValueError when nested too deep."""
    try:
        return msgspec.json.encode(value, order="deterministic").decode()
    except (TypeError, ValueError, OverflowError):
        pass
    except RecursionError:
        raise ValueError("nested too deep") from None
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_args(text: str) -> tuple[Any, str]:
    """Arguments as a value and as their canonical text.

    The value is None where the text is no JSON; the canonical text is then the text, trimmed. Text
    that holds JSON as a string is read through once. Throw-away values are left out of the
    canonical text, where anything else is left.
    """
    if not text or text.isspace():
        return {}, "{}"
    try:
        value = parse_json(text)
        if isinstance(value, str) and value[:1] in ("{", "["):
            value = parse_json(value)
        compared = value
        if isinstance(value, dict) and any(map(_is_throwaway, value.items())):
            kept = dict(pair for pair in value.items() if not _is_throwaway(pair))
            compared = kept or value
        return value, canonical_json(compared)
    except ValueError:
        return None, " ".join(text.split())


def _is_throwaway(pair: tuple[str, Any]) -> bool:
    name, value = pair
    if name in THROWAWAY_ARGS:
        return True
    return (
        name in REQUEST_ARGS and isinstance(value, str) and _RANDOM.search(value[:80]) is not None
    )


def fold(text: str) -> str:
    """`text` with every run of white space as one space, and none at its ends."""
    return " ".join(text.split())


def differ_plainly(one: str, other: str) -> bool:
    """Whether the beginnings differ in more words, or in other ones, than ids and time stamps
    would.
    """
    different = 0
    for mine, theirs in zip(one[:HEAD].split(), other[:HEAD].split(), strict=False):
        if mine != theirs:
            different += 1
            if different > MOST_VOLATILE_WORDS or not (_has_digit(mine) and _has_digit(theirs)):
                return True
    return False


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def stable(text: str) -> str:
    """`text` folded, without what differs between two answers that say the same.

    Those are request ids, time stamps of the answer itself, and how long it took. Dates that are
    the answer ("last reset: 2026-11-21") stay.
    """
    folded = fold(text)
    if folded[:1] == "{":
        try:
            value = parse_json(folded)
        except ValueError:
            value = None
        if isinstance(value, dict) and not VOLATILE_NAMES.isdisjoint(map(str.lower, value)):
            kept = {
                name: each for name, each in value.items() if name.lower() not in VOLATILE_NAMES
            }
            if kept:
                folded = canonical_json(kept)
    if _DIGITS.search(folded) is None:
        return folded
    return str(_VOLATILE.sub("~", folded))
