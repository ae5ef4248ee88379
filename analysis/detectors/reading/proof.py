"""Whether an answer proves a change, or only acknowledges it."""

from __future__ import annotations

from typing import Any

from analysis.detectors.reading import CallReading
from analysis.detectors.reading.keys import parse_json
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import word_set

# Characters. A longer answer says something.
LONGEST_ACKNOWLEDGEMENT = 80

_BARE = Pattern(
    r"(?i)^[\s\"'`.!✓✔✅👍-]*(?:(?:ok(?:ay)?|success(?:ful(?:ly)?)?|succeeded|done|true|yes|1"
    r"|200|201|204|200 ok|http 200|completed?|"
    r"accepted|acknowledged|ack|processed|executed|updated|saved|sent|applied|finished|fertig"
    r"|erledigt|erfolgreich|"
    r"terminé|réussi|éxito|hecho|listo|sucesso|concluído|fatto|成功|完成|完了|완료|成功しました|готово|успешно)"
    r"(?: successfully)?|(?:status|result|success|ok|code)\s*[:=]\s*(?:ok|success|done|true|200)|"
    r"(?:the )?(?:\w+ ){0,3}(?:was |has been |is )?(?:completed|executed|successful|succeeded"
    r"|accepted|done|performed|processed)"
    r"(?: successfully)?|(?:your )?(?:request|operation|action|command) (?:was "
    r"|has been )?(?:received|successful|completed|accepted|processed|"
    r"submitted|sent|executed)(?: successfully)?)[\s\"'`.!]*$"
)
_GOOD_FIELDS = word_set(
    """
    status success ok result message code statuscode status_code state done error errors msg
    request_id requestid timestamp trace_id response data iserror is_error content type text
    """
)


def is_bare_success(call: CallReading) -> bool:
    """An answer that says nothing but ok, success, done, true or 200."""
    result = call.call.result
    if result is None or call.failed or call.empty is not None:
        return False
    text = result.strip()
    if not text or len(text) > 400:
        return False
    if text[0] in '{["':
        try:
            value = parse_json(text)
        except ValueError:
            return False
        return _is_bare(value, 0)
    return len(text) <= LONGEST_ACKNOWLEDGEMENT and _BARE.search(text) is not None


def _is_bare(value: Any, depth: int) -> bool:
    if value is None or value is True or value in (200, 201, 204):
        return True
    if isinstance(value, str):
        text = value.strip()
        return not text or (len(text) <= LONGEST_ACKNOWLEDGEMENT and _BARE.search(text) is not None)
    if depth >= 3:
        return False
    if isinstance(value, list):
        return len(value) <= 1 and all(_is_bare(each, depth + 1) for each in value)
    if isinstance(value, dict):
        return bool(value) and all(
            str(name).lower() in _GOOD_FIELDS
            and (_is_technical(str(name).lower(), each) or _is_bare(each, depth + 1))
            for name, each in value.items()
        )
    return False


def _is_technical(name: str, value: Any) -> bool:
    if name in ("request_id", "requestid", "timestamp", "trace_id", "type"):
        return True
    return name in ("error", "errors", "iserror", "is_error") and not value
