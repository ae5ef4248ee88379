"""An error's words without what differs from run to run: numbers, ids, times, quoted values.

What is folded reads as "…", so that what is left is a phrase that people understand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

FOLDED = "…"
# Characters of a text that are looked at, and words that are compared. Detectors cut what they cite
# at 140 characters; long ids before the cut leave fewer words, and texts that differ behind a dozen
# equal words tell of one fault.
LONGEST = 2_000
WORDS = 12
# Longer than any word of a language; what is longer is data.
LONGEST_WORD = 40
MAX_DEPTH = 4
# Where an error object says what is wrong, in the order in which people read it.
TELLING = (
    "error", "errors", "exception", "code", "error_code", "status", "status_code", "type", "name",
    "title", "reason", "message", "msg", "detail", "details", "description", "error_message",
)  # fmt: skip

# Scripts that set no space between words, or none before what follows a number.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff21-\uff3a\uff41-\uff9f"
)
_UNSPACED_RUN = re.compile(rf"(?:(?!\d)[{_UNSPACED}])+")
# Letters of such a run that are compared: about as many words as of other languages.
LONGEST_RUN = 36

# Of these the ones that hold a code, and how one looks.
CODES = frozenset({"code", "error_code", "status_code"})
_CODE_TEXT = re.compile(r"[A-Za-z]{1,6}[-_]?\d{1,6}")

_SECRET = re.compile(r"\[secret:[a-z0-9_.-]{1,60}:[0-9a-f]{8}\]", re.I)
_PAIR = re.compile(r"[\"'][\w. -]{1,40}[\"']\s*:")
_RAISED = re.compile(r"\b[\w.]{0,80}(?:error|exception)\b", re.I)
_QUOTED = re.compile(
    rf"(?:(?<=[\s(\[{{=:,;{_UNSPACED}\u3000-\u3004\uff00-\uff20])|^)"
    r"(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|‘[^’\n]{0,200}’)"  # noqa: RUF001
    rf"(?![^\W{_UNSPACED}])"
    r"|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|‹[^›\n]{0,200}›"  # noqa: RUF001
    r"|「[^」\n]{0,200}」|『[^』\n]{0,200}』|《[^》\n]{0,200}》"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,10}://([^\s/?#'\"<>]{1,200})[^\s'\"<>]*", re.I)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}},?\s+)?"
    rf"(?:\d{{1,2}}\s+{_MONTH}|{_MONTH}\s+\d{{1,2}}\b)"
    r"(?:,?\s+\d{4})?(?:,?\s+\d{1,2}:\d{2}(?::\d{2})?)?(?:\s+\d{4})?(?:\s+(?:gmt|utc|[ap]m)\b)?",
    re.I,
)
# A status or an exit code is what the error is, not one of its values.
_CODE = re.compile(
    r"\b(?:http(?:/[\d.]{1,4})?|status|code|error|errno|statuscode|returned|answered|response)\b"
    r"[\s:=#()]{0,3}"
    r"(?:code[\s:=]{0,2})?([1-5]\d\d)\b(?![-.:]?\d)"
    r"|\b(?:exit(?:ed)?(?: with)?(?: status| ?code)?|errno)[\s:=]{1,2}(-?\d{1,3})\b(?!\.?\d)"
    r"|^\s*([45]\d\d)\b(?=[\s:,-]+[a-z])",
    re.I,
)
# Codes that people look up, beside numbers that tell one thing from another.
_NAMED_CODE = re.compile(
    r"\b(?:(?:ora|tns|pls|rman|aadsts)-?\d{3,7}|sqlstate[\s:=\[(]{0,3}[0-9a-z]{5}"
    r"|winerror[\s:=]{1,2}\d{1,5}|0x8[0-9a-f]{7}|code[\s:=#(]{1,3}[a-z]{1,6}[-_]?\d{1,6}"
    r"|(?:error|fehler|erreur|errno|code)(?: code| no\.?| number)?[\s:=#(]{1,3}\d{1,5})"
    r"\b(?![-.:/]?\d)",
    re.I,
)
_KEPT = "\ue000{}\ue001"
_MEASURED = re.compile(
    r"(?<![\w.,-])\d[\d.,]{0,20}\s?(?:%|(?:ms|s|secs?|seconds?|mins?|minutes?|h|hours?|days?"
    r"|[kmgt]i?b|bytes?)\b)",
    re.I,
)
_FILE = re.compile(
    r"[^\s\"'<>|]{1,200}\.(?:pdf|csv|tsv|txt|docx?|xlsx?|pptx?|log|json|ya?ml|xml|zip|tar|gz|png|jpe?g|gif"
    r"|py|js|ts|sh|ps1|bat|exe|msi|dll|sql|md|html?|ini|cfg|conf|toml)$",
    re.I,
)
_ROOTED = re.compile(r"(?:[a-z]:)?[\\/][\w.~-]", re.I)
_TOKEN = re.compile(r"[^\s,;()\[\]{}<>=\"“”«»`]+")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{8,}$")
_DIGIT = re.compile(r"\d")
# Names of things that have a number in them.
_NAMES = frozenset(
    {
        *("node.js", "next.js", "vue.js"),
        *("base64", "sha1", "sha256", "sha512", "md5", "utf8", "utf-8", "utf16", "utf-16", "x509"),
        *("ec2", "s3", "k8s", "log4j", "oauth2", "oauth2.0", "http2", "tls1.2", "tls1.3"),
        *("ipv4", "ipv6", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"),
    }
)
_OPENING = re.compile(r"^(?:(?:an? )?(?:error|exception|failure|fehler|erreur)\s*[:\u2013-]\s*)+")
_SPACE = re.compile(r"\s+")
_WIDE_MARK = re.compile("\\s*([\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])\\s*")
_FOLDS = re.compile(rf"{FOLDED}(?:[\s.,:;/|+-]*{FOLDED})+")
_EDGES = " \t.,:;!?-\u2013|\"'\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"


def normalised_error(text: str) -> str:
    """What of an error's text is the same whenever the fault is; "" for no words at all."""
    said = _SECRET.sub(FOLDED, _without_frames(text[:LONGEST]))
    said = _of_json(said)
    said = _QUOTED.sub(FOLDED, said)
    said = _URL.sub(_host, said)
    said = _CODE.sub(_kept, said)
    said = _NAMED_CODE.sub(_kept_whole, said)
    said = _DATE.sub(FOLDED, said.casefold())
    said = _MEASURED.sub(FOLDED, said)
    said = _UNSPACED_RUN.sub(lambda run: f" {run[0][:LONGEST_RUN]} ", said)
    said = _TOKEN.sub(_token, said)
    said = said.replace("\ue000", "").replace("\ue001", "").replace("\ue002", " ")
    return _trimmed(said)


def _without_frames(text: str) -> str:
    """Of a traceback, the exception."""
    at = text.find("Traceback (most recent call last)")
    if at < 0:
        return text
    raised = list(_RAISED.finditer(text, at))
    return text[raised[-1].start() :] if raised else text


def _of_json(text: str) -> str:
    """What an error object says of itself; broken JSON without its punctuation."""
    begin = text.lstrip()[:1]
    if begin not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if _PAIR.search(text) is None:
            return text
        return re.sub(r"[{}\[\]\"':,]+", " ", text)
    told = list(dict.fromkeys(_told(value, 0)))
    return ": ".join(told) if told else " ".join(_keys(value))


def _told(value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for each in value[:3]:
            yield from _told(each, depth + 1)
    elif isinstance(value, dict):
        said = {str(name).casefold().replace("-", "_"): each for name, each in value.items()}
        for name in TELLING:
            each = said.get(name)
            if isinstance(each, dict | list):
                yield from _told(each, depth + 1)
            elif isinstance(each, str) and each.strip():
                is_code = name in CODES and _CODE_TEXT.fullmatch(each.strip())
                yield f"code {each.strip()}" if is_code else each.strip()
            elif isinstance(each, int) and not isinstance(each, bool):
                yield f"code {each}" if 100 <= each <= 599 else str(each)


def _keys(value: Any) -> list[str]:
    return [str(name) for name in value][:20] if isinstance(value, dict) else []


def _host(match: re.Match[str]) -> str:
    host = match[1].rpartition("@")[2].partition(":")[0]
    return FOLDED if _DIGIT.search(host) else f" {host} "


def _kept(match: re.Match[str]) -> str:
    number = match[1] or match[2] or match[3]
    return match[0].replace(number, _KEPT.format(number))


def _kept_whole(match: re.Match[str]) -> str:
    if "\ue000" in match[0]:
        return match[0]
    return _KEPT.format(re.sub(r"\s+|[:=#(\[]+", "\ue002", match[0]))


def _token(match: re.Match[str]) -> str:
    word = match[0]
    bare = word.strip(_EDGES)
    if "\ue000" in word or bare in _NAMES or not bare:
        return word
    # "</b>" is the end of an element.
    rooted = _ROOTED.match(bare) and not match.string.endswith("<", 0, match.start())
    path = bare.count("/") + bare.count("\\") >= 2 or rooted or _FILE.fullmatch(bare)
    if path or len(bare) > LONGEST_WORD or "@" in bare or _HEX.fullmatch(bare):
        return FOLDED
    if _DIGIT.search(bare) is None:
        return word
    # "INC-4417" and "field3:17" go as a whole; of "count: 3 rows" the number alone does.
    return FOLDED


def _trimmed(text: str) -> str:
    text = _WIDE_MARK.sub(r"\1", _SPACE.sub(" ", text).strip())
    cut = text.endswith(FOLDED) and not text.endswith(f" {FOLDED}")
    text = _OPENING.sub("", text)
    words = _FOLDS.sub(FOLDED, text).split()
    if cut and len(words) > 1:
        # The last word lost its end.
        words[-1] = FOLDED
    text = _FOLDS.sub(FOLDED, " ".join(words[:WORDS]))
    return text.strip(_EDGES)
