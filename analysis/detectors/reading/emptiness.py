"""Whether a tool's answer is empty, and in which way."""

from __future__ import annotations

from typing import Any

from analysis.detectors.reading.words import word_set

NOTHING = "nothing"

# Fields that carry the answer in an envelope.
PAYLOAD = word_set(
    """
    content contents result results data output outputs response responses items rows
    records value values body payload text answer answers hits matches documents entries
    list messages files tool_result toolresult return return_value stdout structured_content
    structuredcontent
    """
)
# Fields that say something about an answer without being one.
ENVELOPE = word_set(
    """
    status success ok error errors err is_error iserror isError error_message errormessage
    code status_code statuscode meta _meta metadata request_id requestid trace_id timestamp
    time duration duration_ms took elapsed count total total_count totalcount num_results
    page per_page page_size limit offset next next_page cursor next_cursor has_more hasmore
    type version exit_code exitcode returncode stderr annotations truncated cached tool
    tool_name name id tool_call_id
    """
)
_EMPTY_WORDS = {
    "null": "null",
    "none": "null",
    "undefined": "undefined",
    "nil": "null",
    '""': "an empty string in quotes",
    "''": "an empty string in quotes",
    "{}": "an empty object",
    "[]": "an empty list",
    "()": "an empty list",
    "[[]]": "an empty list",
    "[{}]": "a list with an empty object",
    "[null]": "a list with null",
    '[""]': "a list with an empty string",
}
# Longer texts are never one of the words above, even with white space in between.
_LONGEST_WORD = 24
# Marks that print as nothing: zero-width characters, the byte order mark, no-break spaces.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00a0\u00ad"


def emptiness_of(text: str, value: Any, is_json: bool) -> str | None:
    """In words what kind of nothing `text` is, or None when it says something.

    `value` is the JSON value of `text` where `is_json`. An answer of "no results" in words is not
    empty.
    """
    if not text:
        return NOTHING
    if len(text) <= _LONGEST_WORD or text.isspace():
        bare = text.strip().strip(_INVISIBLE).strip()
        if not bare:
            return "only white space"
        kind = _EMPTY_WORDS.get("".join(bare.split()).lower())
        if kind:
            return kind
    if is_json and isinstance(value, dict):
        return _empty_envelope(value)
    if is_json and isinstance(value, list) and _is_void(value):
        return "a list of nothing"
    return None


def _empty_envelope(value: dict[Any, Any]) -> str | None:
    payload = ""
    for name, each in value.items():
        lowered = str(name).lower()
        if lowered in PAYLOAD:
            if not _is_void(each):
                return None
            payload = payload or str(name)
        elif (lowered not in ENVELOPE and not _is_void(each)) or (
            isinstance(each, str) and " " in each.strip()
        ):
            return None
    if not payload:
        return None
    if {str(name).lower() for name in value} & {
        "iserror",
        "is_error",
        "structured_content",
        "structuredcontent",
    }:
        return "an MCP result with no content"
    return f"an envelope whose {payload} is empty"


def _is_void(value: Any, depth: int = 0) -> bool:
    """Nothing at any depth: null, an empty text, or a list or text part of nothing."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    if depth > 3:
        return False
    if isinstance(value, list):
        return len(value) <= 20 and all(_is_void(each, depth + 1) for each in value)
    if isinstance(value, dict):
        if value.get("type") == "text" and isinstance(value.get("text"), str):
            return not value["text"].strip()
        return not value
    return False
