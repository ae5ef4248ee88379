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

_SECRET = re.compile(r"\[secret:[a-z0-9_.-]{1,60}:[0-9a-f]{8}\]", re.I)
_PAIR = re.compile(r"[\"'][\w. -]{1,40}[\"']\s*:")
_RAISED = re.compile(r"\b[\w.]{0,80}(?:error|exception)\b", re.I)
_QUOTED = re.compile(
    r"(?:(?<=[\s(\[{=:,;])|^)"
    r"(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|“[^”\n]{0,200}”|«[^»\n]{0,200}»)"
    r"(?![\w])"
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
_KEPT = "\ue000{}\ue001"
_TOKEN = re.compile(r"[^\s,;()\[\]{}<>=\"“”«»`]+")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{8,}$")
_DIGIT = re.compile(r"\d")
# Names of things that have a number in them.
_NAMES = frozenset(
    {
        *("base64", "sha1", "sha256", "sha512", "md5", "utf8", "utf-8", "utf16", "utf-16", "x509"),
        *("ec2", "s3", "k8s", "log4j", "oauth2", "oauth2.0", "http2", "tls1.2", "tls1.3"),
        *("ipv4", "ipv6", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"),
    }
)
_OPENING = re.compile(r"^(?:(?:an? )?(?:error|exception|failure|fehler|erreur)\s*[:\u2013-]\s*)+")
_SPACE = re.compile(r"\s+")
_FOLDS = re.compile(rf"{FOLDED}(?:[\s.,:;/|+-]*{FOLDED})+")
_EDGES = " \t.,:;!?-\u2013|\"'"


def normalised_error(text: str) -> str:
    """What of an error's text is the same whenever the fault is; "" for no words at all."""
    said = _SECRET.sub(FOLDED, _without_frames(text[:LONGEST]))
    said = _of_json(said)
    said = _QUOTED.sub(FOLDED, said)
    said = _URL.sub(_host, said)
    said = _CODE.sub(_kept, said)
    said = _DATE.sub(FOLDED, said.casefold())
    said = _TOKEN.sub(_token, said)
    said = said.replace("\ue000", "").replace("\ue001", "")
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
                yield each.strip()
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


def _token(match: re.Match[str]) -> str:
    word = match[0]
    bare = word.strip(_EDGES)
    if "\ue000" in word or bare in _NAMES or not bare:
        return word
    path = bare.count("/") + bare.count("\\") >= 2
    if path or len(bare) > LONGEST_WORD or "@" in bare or _HEX.fullmatch(bare):
        return FOLDED
    if _DIGIT.search(bare) is None:
        return word
    # "INC-4417" and "field3:17" go as a whole; of "count: 3 rows" the number alone does.
    return FOLDED


def _trimmed(text: str) -> str:
    text = _SPACE.sub(" ", text).strip()
    cut = text.endswith(FOLDED) and not text.endswith(f" {FOLDED}")
    text = _OPENING.sub("", text)
    words = _FOLDS.sub(FOLDED, text).split()
    if cut and len(words) > 1:
        # The last word lost its end.
        words[-1] = FOLDED
    text = _FOLDS.sub(FOLDED, " ".join(words[:WORDS]))
    return text.strip(_EDGES)
