"""Whether a tool's answer reads as a failure although nothing marks it as one.

The words alone do not decide: "permission denied" is a failure as the outcome of a call, and is
none in an article, a log, a ticket or source code that the call was asked for. So a short answer
is read as an outcome, a long one only at its head and tail, and fields that carry documents are
not read.
"""

from __future__ import annotations

from typing import Any

from analysis.detectors.reading import failure_words as words
from analysis.detectors.reading.failure_fields import (
    DOCUMENT_FIELDS,
    ERROR_CODE_FIELDS,
    ERROR_FIELDS,
    MESSAGE_FIELDS,
    WRAPPERS,
    is_telling,
    told_failures,
)
from analysis.detectors.reading.keys import parse_json
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.tools import Effect, ToolNature
from analysis.detectors.reading.words import excerpt, word_set

# Characters. An outcome is told in a sentence or two; what is longer is a document.
SHORT = 400
SHORT_FOR_DOCUMENTS = 160
HEAD = 300
# The longest error that a tool for documents returns, and how many sentences make a document.
LONGEST_ERROR = 2_000
SENTENCES_OF_A_DOCUMENT = 4
# Characters of a page's beginning in which its title stands.
PAGE_HEAD = 4_000
# An error page is small; a large page is an article, whatever its title.
LARGEST_ERROR_PAGE = 60_000
MAX_DEPTH = 8
MAX_FIELDS = 200
# Longer texts are not parsed again as JSON within JSON.
MAX_INNER_JSON = 200_000

_PAIR = Pattern(
    r"['\"](\w{1,40})['\"]\s*:\s*(?:'([^']{0,400})'|\"((?:[^\"\\]|\\.){0,400})\"|(\w{1,20}))"
)
_VALUES = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}


def hidden_failure(text: str, value: Any, is_json: bool, nature: ToolNature) -> str | None:
    """The words in which `text` tells of a failure, shortened; None when it tells of none.

    `value` is the JSON value of `text` where `is_json`; `nature` is the tool's, since the same
    words mean different things from a tool that changes something and from one that fetches
    documents.
    """
    if is_json and isinstance(value, dict | list | str):
        return _in_value(value, nature, 0, [MAX_FIELDS])
    return _in_text(text, nature)


def _in_value(value: Any, nature: ToolNature, depth: int, budget: list[int]) -> str | None:
    if depth > MAX_DEPTH or budget[0] <= 0:
        return None
    if isinstance(value, str):
        return _in_inner_text(value, nature, depth, budget)
    if isinstance(value, dict):
        return _in_object(value, nature, depth, budget)
    if isinstance(value, list) and len(value) == 1:
        return _in_value(value[0], nature, depth + 1, budget)
    if isinstance(value, list) and _are_parts(value):
        return next(
            (
                found
                for part in value
                if (found := _in_value(part["text"], nature, depth + 1, budget))
            ),
            None,
        )
    return None


def _are_parts(value: list[Any]) -> bool:
    """The parts of one message: `[{"type": "text", "text": …}, …]`."""
    return 0 < len(value) <= 20 and all(
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
        for part in value
    )


def _in_inner_text(text: str, nature: ToolNature, depth: int, budget: list[int]) -> str | None:
    head = text.lstrip()[:1]
    if head in ("{", "[", '"') and len(text) <= MAX_INNER_JSON:
        try:
            inner = parse_json(text)
        except ValueError:
            inner = None
        if isinstance(inner, dict | list | str):
            return _in_value(inner, nature, depth + 1, budget)
    return _in_text(text, nature)


def _in_object(
    value: dict[Any, Any], nature: ToolNature, depth: int, budget: list[int]
) -> str | None:
    budget[0] -= len(value)
    fields = [
        (str(name), str(name).lower().replace("-", "_"), each) for name, each in value.items()
    ]
    told = next(told_failures(fields, nature), None)
    if told is not None:
        return told
    names = {lowered for _, lowered, _ in fields}
    tells = is_telling(names, nature)
    for _, lowered, each in fields:
        if tells and isinstance(each, str) and each.lstrip()[:1] not in ("{", "["):
            # A ticket's or a message's own text, which may speak of anything.
            continue
        if lowered in WRAPPERS or (lowered in MESSAGE_FIELDS and lowered not in DOCUMENT_FIELDS):
            found = _in_value(each, nature, depth + 1, budget)
            if found:
                return found
    if depth <= 2 and not nature.document:
        for name, lowered, each in fields:
            # Error fields were judged above: what they say may be about the thing that was read.
            if isinstance(each, str) and lowered not in NOT_OUTCOMES:
                found = _in_field(name, each)
                if found:
                    return found
    return None


NOT_OUTCOMES = DOCUMENT_FIELDS | WRAPPERS | ERROR_FIELDS | ERROR_CODE_FIELDS
_FIELD_FAILURE = Pattern(
    r"(?i)^\s*(?:(?:http(?:/[\d.]+)?\s*)?[45]\d\d\b[\s:,-]*(?:bad request|unauthori[sz]ed"
    r"|forbidden|not found|"
    r"method|conflict|too many|internal|bad gateway|service|gateway|error|client|server|$)|"
    r"(?:\w{0,40}error|\w{0,40}exception|failed|failure|fehler|erreur|errore|erro)\s*[:(]|"
    r"failed to |(?:permission|access) denied|unauthori[sz]ed$|forbidden$|timed out"
    r"|request timed out|"
    r"(?:could|can) ?not |cannot |unable to )"
)


def _in_field(name: str, text: str) -> str | None:
    """A failure told in a field of an otherwise good answer: `"reset": "403 Forbidden"`."""
    if len(text) <= SHORT_FOR_DOCUMENTS and _FIELD_FAILURE.search(text) is not None:
        return excerpt(f"{name}: {text}")
    return None


def _in_text(text: str, nature: ToolNature) -> str | None:
    head = text[:HEAD].lstrip()
    if not head:
        return None
    if head[0] == "<":
        return _in_markup(text, nature)
    if head[0] in "{[" and _PAIR.search(head) is not None:
        return _in_broken_json(text)
    if len(text) > SHORT_FOR_DOCUMENTS and _is_denied(head):
        return None
    if _is_failure_head(head, text, nature):
        return excerpt(text)
    if len(text) <= SHORT:
        return _in_short_text(text, nature) or _in_program_output(text, nature)
    return _in_program_output(text, nature)


def _is_failure_head(head: str, text: str, nature: ToolNature) -> bool:
    heads = words.STRICT_HEAD if nature.document else words.HEAD
    if heads.search(head) is None or _is_denied(head[:80]):
        return False
    if words.WARNING_HEAD.search(head) is not None or words.PERSON.search(head) is not None:
        return False
    if nature.document:
        # What was fetched may begin with a heading on errors, a log line, or someone's own words.
        begin = text[:PAGE_HEAD]
        return not (
            len(text) > LONGEST_ERROR
            or begin.count(". ") + begin.count(".\n") >= SENTENCES_OF_A_DOCUMENT
            or words.CODE.search(begin)
            or words.LOG_LINE.search(begin)
            or words.STORY.search(head)
        )
    return True


def _is_denied(text: str) -> bool:
    """Errors are counted or denied in it, not told of."""
    return words.NEGATED.search(text) is not None or words.NEGATED_ABROAD.search(text) is not None


def _in_short_text(text: str, nature: ToolNature) -> str | None:
    is_line = _weight(text) <= SHORT_FOR_DOCUMENTS // 2
    if (is_line or not nature.document) and words.NO_SUCH_TOOL.search(text) is not None:
        return excerpt(text)
    patterns = [words.OUTCOME, words.OUTCOME_ABROAD]
    if nature.effect == Effect.CHANGES:
        patterns.append(words.OUTCOME_OF_A_CHANGE)
    if all(pattern.search(text) is None for pattern in patterns):
        return None
    if words.GOOD_HEAD.search(text) is not None:
        return None
    if _is_denied(text) or words.NO_HITS.search(text) is not None:
        return None
    if nature.effect == Effect.CHANGES and not nature.document:
        return excerpt(text)
    if nature.executor:
        return None
    if words.STORY.search(text) is not None or words.LOG_LINE.search(text) is not None:
        return None
    longest = SHORT_FOR_DOCUMENTS // 2 if nature.document else SHORT_FOR_DOCUMENTS
    if _weight(text) > longest or words.CODE.search(text) is not None:
        return None
    return excerpt(text) if _reads_as_outcome(text) else None


def _weight(text: str) -> int:
    """The length of `text` in Latin characters: a Chinese or Korean character says as much as
    three.
    """
    if text.isascii():
        return len(text)
    return len(text) + 2 * sum(character >= "\u2e80" for character in text)


_FIELDS = Pattern(
    r"(?:[^:\n]{1,40}: [^:\n]{1,200}[,;\n]){2,}|(?:[^,\n]{1,60}, ){3,}|(?:[^|\n]{1,60}\|){2,}"
)


def _reads_as_outcome(text: str) -> bool:
    """One or two sentences, not a list of fields with a failure among them."""
    return text.strip().count("\n") <= 2 and _FIELDS.search(f"{text}\n") is None


def _in_program_output(text: str, nature: ToolNature) -> str | None:
    """Failures at the end of what a program printed: an exit code, a traceback, a shell's
    complaint.
    """
    tail = text[-HEAD:]
    if not nature.executor and (nature.document or nature.effect == Effect.READS):
        # A search that prints a shell's complaint at its end was not carried out.
        stopped = words.MAKE_STOPPED.search(tail) if len(text) <= SHORT else None
        return excerpt(tail[stopped.start() :]) if stopped is not None else None
    for part in (tail, text[:80]):
        code = words.EXIT_CODE.search(part)
        if code is not None and code.group(1).lstrip("-") != "0":
            return _line_around(part, code.start())
        if code is not None:
            return None
    if not (nature.executor or nature.effect != Effect.READS):
        return None
    last = tail.rstrip().rsplit("\n", 1)[-1]
    line = words.ERROR_LINE.search(last)
    if line is None and len(text) <= SHORT:
        line = words.ERROR_LINE.search(text)
        last = text
    if line is not None and words.LOG_LINE.search(last) is None:
        return _line_around(last, line.start())
    return None


def _line_around(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return excerpt(text[start : end if end >= 0 else len(text)])


def _in_markup(text: str, nature: ToolNature) -> str | None:
    """XML that answers in fields (`<success>false</success>`), or a page of HTML."""
    fields: list[tuple[str, str, Any]] = []
    for found in _LEAF.finditer(text[:PAGE_HEAD]):
        opened, value, closed = found.groups()
        if opened == closed and opened.lower() not in _HTML:
            fields.append((opened, opened.lower().replace("-", "_"), value.strip()))
        if len(fields) == MAX_FIELDS:
            break
    told = next(told_failures(fields, nature), None)
    if told is None and words.ERROR_ELEMENT.search(text[:HEAD]) is not None:
        told = excerpt(", ".join(f"{name}: {value}" for name, _, value in fields) or text)
    return told or _in_page(text)


_LEAF = Pattern(
    r"<([A-Za-z][\w:.-]{0,40})(?:\s[^<>]{0,200})?>([^<>]{0,400})</([A-Za-z][\w:.-]{0,40})>"
)
_HTML = word_set(
    """
    p a b i em strong span div li td th h1 h2 h3 h4 title code pre small label
    """
)


def _in_page(text: str) -> str | None:
    """The title of a page that says an error and little else."""
    if len(text) > LARGEST_ERROR_PAGE:
        return None
    titles = [found.strip() for found in words.PAGE_TITLE.findall(text[:PAGE_HEAD])]
    wrong = next((title for title in titles if words.ERROR_TITLE.search(title) is not None), None)
    if wrong is None or len(" ".join(_TAG.sub(" ", text).split())) > LONGEST_ERROR:
        return None
    return excerpt(wrong, 80)


_TAG = Pattern(r"<(?:style|script)\b[^>]*>[^<]*</|<[^>]{0,400}>?")


def _in_broken_json(text: str) -> str | None:
    """Objects with Python's own quotes (`{'message': 'no such user'}`), or cut off midway."""
    fields: list[tuple[str, str, Any]] = []
    for found in _PAIR.finditer(text[:PAGE_HEAD]):
        name, single, double, bare = found.groups()
        value: Any = single if single is not None else double
        if value is None:
            value = int(bare) if bare.isdigit() and len(bare) < 10 else _VALUES.get(bare, bare)
        fields.append((name, name.lower(), value))
        if len(fields) == 40:
            break
    nature = _READER
    told = next(told_failures(fields, nature), None)
    if told is not None:
        return told
    if len(fields) <= 3:
        for name, lowered, value in fields:
            if (
                lowered in MESSAGE_FIELDS
                and isinstance(value, str)
                and _in_short_text(value, nature)
            ):
                return excerpt(f"{name}: {value}")
    return None


_READER = ToolNature((), Effect.READS, "", frozenset(), False, False, False, False, False)
