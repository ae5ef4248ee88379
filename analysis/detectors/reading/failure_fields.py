"""What the fields of an answer say: `{"error": "…"}`, `{"success": false}`, `{"status": 403}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.detectors.reading import failure_words as words
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.tools import Effect, ToolNature
from analysis.detectors.reading.words import excerpt, word_set

# Characters of a value's beginning that are read.
HEAD = 300

ERROR_FIELDS = word_set(
    """
    error errors exception err fault failure error_message errormessage errormsg error_msg
    error_description errordescription error_details errordetails error_text last_error
    errortype error_type exc_info stacktrace traceback failure_reason failurereason fehler
    erreur
    """
)
ERROR_CODE_FIELDS = frozenset(["error_code", "errorcode", "err_code", "errno", "errcode"])
SUCCESS_FIELDS = word_set(
    """
    success ok succeeded is_success issuccess successful is_ok passed_validation accepted
    """
)
FAILED_FIELDS = word_set(
    """
    is_error iserror failed has_error haserror errored isfailure is_failure
    """
)
STATUS_FIELDS = word_set(
    """
    status state result outcome code level resultcode result_code
    """
)
HTTP_FIELDS = word_set(
    """
    status code statuscode status_code http_status httpstatus http_code httpcode
    responsecode response_code http_status_code
    """
)
EXIT_FIELDS = word_set(
    """
    exit_code exitcode returncode return_code exit_status exitstatus
    """
)
MESSAGE_FIELDS = word_set(
    """
    message msg detail details reason description info text note cause explanation
    status_message statusmessage statustext status_text error_description
    """
)
# Fields that hold the answer in an envelope, to be read as an answer itself.
WRAPPERS = word_set(
    """
    result results response responses data output outputs content contents body payload
    return return_value value toolresult tool_result structured_content structuredcontent
    text message stdout stderr answer observation reply
    """
)
# Fields that carry what was asked for: never read as an outcome.
DOCUMENT_FIELDS = word_set(
    """
    title subject name names summary query question snippet excerpt line lines log logs
    comment comments article articles ticket tickets issue issues history transcript source
    source_code code_snippet html markdown document documents page pages email emails notes
    messages thread tags label labels description abstract headline url link path file
    filename problem symptom symptoms complaint said quote remark remarks reported
    """
)
# Fields beside a status that do not make its object a record of the world.
ENVELOPE_FIELDS = (
    MESSAGE_FIELDS
    | WRAPPERS
    | ERROR_FIELDS
    | ERROR_CODE_FIELDS
    | STATUS_FIELDS
    | HTTP_FIELDS
    | word_set(
        """
    type title instance request_id requestid trace_id timestamp time path method tool
    tool_name meta metadata success ok errors warnings retryable retry_after hint help
    documentation_url
    """
    )
)
# Fields in which the protocol itself marks a failure, whatever stands beside them.
PROTOCOL_FIELDS = frozenset({"iserror", "is_error", "haserror", "has_error"})
# Fields of its own, beside those of any answer, that make an object a record of the world.
FIELDS_OF_A_RECORD = 2


HEADINGS = frozenset(["title", "subject", "headline", "short_description"])


def is_telling(names: set[str], nature: ToolNature) -> bool:
    """A record of what somebody wrote: it has a heading, or fields of its own beside its text.

    A tool that changes something may answer with the record it took; without a heading that is
    not to be told from an account of the change.
    """
    own = len(names - ENVELOPE_FIELDS - HEADINGS)
    has_heading = own >= 1 and not names.isdisjoint(HEADINGS)
    return has_heading or (nature.effect != Effect.CHANGES and own >= FIELDS_OF_A_RECORD)


def told_failures(fields: list[tuple[str, str, Any]], nature: ToolNature) -> Iterator[str]:
    """What the object's own error, success and status fields say."""
    names = {lowered for _, lowered, _ in fields}
    message = next(
        (
            each
            for _, lowered, each in fields
            if lowered in MESSAGE_FIELDS and isinstance(each, str) and each.strip()
        ),
        "",
    )
    own_fields = len(names - ENVELOPE_FIELDS)
    is_record = own_fields >= 1
    # An alert, a job or a ticket has an error of its own, and the call that read it has none.
    # A failure may name what was asked for, so that it takes more to make an error part of a
    # record.
    is_answer = nature.effect == Effect.READS and own_fields >= FIELDS_OF_A_RECORD
    has_heading = not names.isdisjoint(HEADINGS)
    is_about_it = is_answer and (nature.document or own_fields + has_heading > FIELDS_OF_A_RECORD)
    for name, lowered, each in fields:
        told_with_it = lowered in ERROR_FIELDS or lowered in ERROR_CODE_FIELDS
        if lowered not in PROTOCOL_FIELDS and (is_about_it if told_with_it else is_answer):
            continue
        if _says_failed(lowered, each):
            # A read that tells of another thing's failure ("build 7: failed") did its work.
            about_another = is_record and nature.effect == Effect.READS
            if lowered == "code" and is_record:
                continue
            if lowered in STATUS_FIELDS and about_another and not _is_http_error(each):
                continue
            yield _told(name, lowered, each, message)


def _says_failed(name: str, value: Any) -> bool:
    """Whether this field of this value says that the call failed."""
    if name in ERROR_FIELDS:
        return _is_error_value(value, name)
    if name in ERROR_CODE_FIELDS:
        return as_text(value).lower() not in words.NOT_AN_ERROR
    if name in SUCCESS_FIELDS:
        return str(value).lower() == "false"
    if name in FAILED_FIELDS:
        return str(value).lower() == "true"
    if name in EXIT_FIELDS:
        return isinstance(value, int) and value != 0
    if name == "type":
        return str(value).lower() in ("error", "exception")
    return (name in HTTP_FIELDS and _is_http_error(value)) or (
        name in STATUS_FIELDS and _is_bad_status(value)
    )


def _told(name: str, lowered: str, value: Any, message: str) -> str:
    """The field and what stands beside it, in short."""
    if lowered in ERROR_FIELDS:
        return excerpt(f"{name}: {as_text(value)}")
    shown = str(value).lower() if isinstance(value, bool) else as_text(value)
    return excerpt(f"{name}: {shown}{', ' + message if message else ''}")


def _is_error_value(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        # A count of errors ("errors": 3) is a report; an error number is not.
        return value != 0 and name in ("error", "err", "exception", "fault") and value != 200
    if isinstance(value, str):
        bare = value.strip().lower().rstrip(".")
        return bare not in words.NOT_AN_ERROR and words.NO_HITS.search(bare[:HEAD]) is None
    if isinstance(value, dict):
        return any(each not in (None, "", [], {}, 0, False) for each in value.values())
    if isinstance(value, list):
        return any(_is_error_value(each, "error") for each in value[:20])
    return False


def _is_http_error(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return 400 <= value <= 599
    return isinstance(value, str) and len(value) < 60 and _HTTP_VALUE.search(value) is not None


_HTTP_VALUE = Pattern(r"(?i)^\s*(?:http(?:/[\d.]+)?\s*)?[45]\d\d\b")


def _is_bad_status(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > 60:
        return False
    bare = "_".join(value.strip().lower().replace("-", " ").split())
    return bare in words.BAD_STATUS


def as_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for name in ("message", "msg", "detail", "title", "type", "code"):
            if isinstance(value.get(name), str) and value[name].strip():
                return str(value[name]).strip()
    if isinstance(value, list) and value:
        return as_text(value[0])
    return excerpt(str(value))
