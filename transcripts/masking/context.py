"""Secrets known by what stands around them: `password=…`, headers, URLs, commands, tables."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from transcripts.masking import names
from transcripts.masking.budget import Budget
from transcripts.masking.fold import gate, pattern
from transcripts.masking.names import Strength
from transcripts.masking.options import DEFAULT, Options
from transcripts.masking.rulefiles import TextRule, all_needed, any_needed, text_rules
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.tables import column_hits, table_hits
from transcripts.masking.values import DIGIT, LETTER, is_secret, is_stand_in

# A name that may tell, and the sign between it and its value.
ASSIGNED: Final = pattern(
    r"""([\w.\-]*(?:pass|pwd|kennwort|contrase|wachtwoord|senha|mdp|clave|secret|token|key"""
    r"""|credential|psk|pw|pin|otp|auth|sig|cvv|cvc|jwt|seed|bearer|code|cookie)[\w.\-]*)"""
    r"""["'\])]{0,3}[ \t]{0,6}(:=|=>|->|=|:|\bis\b)[ \t]{0,6}"""
)
FLAG: Final = pattern(
    r"""(?:^|[\s"'])(--?|/)([\w\-]*(?:pass|pwd|secret|token|key|credential)[\w\-]*)[ \t]{1,4}"""
)
BEFORE: Final = re.compile(r"(?:([^\W\d_]+)[ _-])?([^\W\d_]+)[ ]$")
# A word; HTML entities in it are part of it, a bare `&` ends it as in a query.
BARE_VALUE: Final = re.compile(
    r"(?:[^\s,;&<>\"'`|()\[\]{}]|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});){1,4096}"
)
# In a connection string only a semicolon ends a value.
PART_VALUE: Final = re.compile(r"[^;\r\n\"']{1,4096}")
AFTER_PART: Final = re.compile(r";[ \t]?$")
LINE_VALUE: Final = re.compile(r"[^\n\r]{1,4096}")
LINE_START: Final = re.compile(
    r"(?:^|[\n\r])[ \t]*(?:[-+>$#] )?(?:export |set |setx |env |SET |- |ENV |ARG )?[ \t]*[\"']?$"
)
USER_LINE: Final = re.compile(
    r"(?i)(?:user|login|benutzer|utilisateur|identifiant|usuario|utente|gebruiker|account|konto)"
    r"[\w -]{0,20}"
    r":[ \t]+[^\s]{2,64}[ \t]*\r?\n[ \t]*$"
)
LINE_END: Final = re.compile(r"[ \t]*(?:[\r\n]|$)")
MORE_PAIRS: Final = re.compile(r"[&;,]\s*[\w.\-]+\s?[=:]|\s[\w.\-]+=")
# Before a string in Python and its like: f"", rb"".
PREFIX: Final = re.compile(r"(?i)[rbfu]{1,2}(?=[\"'])")
CLOSERS: Final = {'"': '"', "'": "'"}
QUOTED_AT_MOST: Final = 4096
TRAILING: Final = ".,;:!?)]}>\\"
COOKIE_LINE: Final = pattern(r"""\b(?:set-)?cookie["']?[ \t]{0,3}[:=][ \t]{0,3}["']?([^\r\n"']+)""")
COOKIE: Final = re.compile(r"([^\s=;,]{1,80})=([^\s;,]{1,4096})")
COOKIE_NAMES: Final = re.compile(
    r"(?i)sess|sid\b|token|auth|csrf|xsrf|jwt|login|remember|credential|secret|key"
)


def context_hits(
    text: str, folded: bytes, budget: Budget, options: Options = DEFAULT
) -> Iterator[Hit]:
    """Secrets that `text` gives away by what stands around them; `folded` is `fold(text)`."""
    if _any_context().search(folded):
        yield from _assigned(text, folded, budget, options)
        yield from _flags(text, folded, options)
        lowered = folded.lower()
        present = {word for word in all_needed("context") if word in lowered}
        for rule in text_rules("context") if present else ():
            if not present.isdisjoint(rule.needs):
                budget.check()
                yield from rule_hits(rule, text, folded)
        yield from _cookies(text, folded)
    if "|" in text:
        yield from table_hits(text)
    if "\n" in text:
        yield from column_hits(text)


@cache
def _any_context() -> Any:
    return gate(ASSIGNED, FLAG, any_needed("context"), COOKIE_LINE)


def rule_hits(rule: TextRule, text: str, folded: bytes) -> Iterator[Hit]:
    """What one pattern rule finds in `text`."""
    for found in rule.pattern.finditer(folded):
        group = 2 if rule.check == "name" else 1
        start, end = found.span(group)
        value = text[start:end]
        if rule.check == "name":
            name = text[slice(*found.span(1))]
            numeric = names.family_of(name) in ("code", "password")
            # The value of a button is a word; where the element itself is named it is no code.
            told = rule.id != "xml-pair"
            if not is_secret(value, names.strength(name), quoted=told, numeric_ok=numeric):
                continue
            yield Hit(start, end, rule.id, names.family_of(name), Rank.CONTEXT)
            continue
        if is_stand_in(value):
            continue
        if rule.check == "random" and not (DIGIT.search(value) and LETTER.search(value)):
            continue
        if rule.check == "basic" and not _is_basic(value):
            continue
        yield Hit(start, end, rule.id, rule.family, Rank.CONTEXT)


def _assigned(text: str, folded: bytes, budget: Budget, options: Options) -> Iterator[Hit]:
    """`name=value`, `name: value`, `"name": "value"`, `name => value`."""
    done = 0
    for count, found in enumerate(ASSIGNED.finditer(folded)):
        if count % 512 == 0:
            budget.check()
        if found.end() < done:
            continue
        name_start, name_end = found.span(1)
        name = text[name_start:name_end]
        strength = options.strength(name)
        if strength < Strength.STRONG:
            before = BEFORE.search(text, max(0, name_start - 40), name_start)
            if before:
                name = f"{before.group(1) or ''} {before.group(2)} {name}"
                strength = max(strength, options.strength(name))
        if strength == Strength.NONE:
            continue
        if name == "PASS" and found.group(2) == b":":
            continue  # the log of a test run
        if found.group(2) == b":" and text[name_start - 1 : name_start] == ":":
            continue  # a part of a longer name: arn:aws:secretsmanager:…:secret:prod
        value = _value(text, folded, found.end(), name_start, found)
        if value is None:
            continue
        start, end, quoted = value
        done = end
        if found.group(2) == b"is":
            # In a sentence a word after "is" is mostly speech: only what looks random counts.
            strength = min(strength, Strength.WEAK)
        numeric = names.family_of(name) in ("code", "password")
        beside_user = strength == Strength.STRONG and _beside_user(text, name_start, start, end)
        if is_secret(text[start:end], strength, quoted=quoted or beside_user, numeric_ok=numeric):
            yield Hit(start, end, "named-value", names.family_of(name), Rank.CONTEXT)


def _beside_user(text: str, name_start: int, start: int, end: int) -> bool:
    """Whether a line `Password: word` follows a line `User: name`: then the word is no speech."""
    return bool(
        text[start:end].isalnum()
        and LINE_END.match(text, end)
        and USER_LINE.search(text, max(0, name_start - 160), name_start)
    )


def _value(
    text: str, folded: bytes, at: int, name_start: int, found: Any
) -> tuple[int, int, bool] | None:
    """Where the value at `at` stands, and whether in quotes; else to its line's end."""
    prefix = PREFIX.match(text, at)
    if prefix:
        at = prefix.end()
    opener = chr(folded[at]) if at < len(folded) else ""
    if opener in CLOSERS:
        close = folded.find(opener.encode(), at + 1, at + 1 + QUOTED_AT_MOST)
        line_end = folded.find(b"\n", at + 1, at + 1 + QUOTED_AT_MOST)
        if close == at + 1:
            return None
        if close > at + 1 and not (0 <= line_end < close):
            return at + 1, close, True
        at += 1
    whole = LINE_VALUE.match(text, at)
    if whole and LINE_START.search(text, max(0, name_start - 60), name_start):
        line = whole.group().rstrip()
        line = re.split(r"\s+#", line, maxsplit=1)[0].rstrip(" \"',")
        if line and not re.search(r"\s", line) and not MORE_PAIRS.search(line) and len(line) > 2:
            return at, at + len(line), False
    if AFTER_PART.search(text, max(0, name_start - 2), name_start):
        part = PART_VALUE.match(text, at)
        if part and text[part.end() : part.end() + 1] == ";" and not re.search(r"\s", part.group()):
            return at, part.end(), False
    bare = BARE_VALUE.match(text, at)
    if bare is None:
        return None
    value = bare.group().rstrip(TRAILING)
    if not value:
        return None
    return at, at + len(value), False


def _flags(text: str, folded: bytes, options: Options) -> Iterator[Hit]:
    """`--password VALUE`, `-Password "VALUE"`."""
    for found in FLAG.finditer(folded):
        name = text[slice(*found.span(2))]
        strength = options.strength(name)
        if strength == Strength.NONE:
            continue
        at = found.end()
        opener = chr(folded[at]) if at < len(folded) else ""
        quoted = opener in CLOSERS
        if quoted:
            close = folded.find(opener.encode(), at + 1, at + 1 + QUOTED_AT_MOST)
            start, end = at + 1, close
            if close < 0:
                continue
        else:
            word = re.compile(r"[^\s\"']{1,4096}").match(text, at)
            if word is None or word.group()[0] in "-(":
                continue
            start = word.start()
            end = start + len(word.group().rstrip(TRAILING))
        if is_secret(text[start:end], strength, quoted=quoted):
            yield Hit(start, end, "flag-value", names.family_of(name), Rank.CONTEXT)


def _cookies(text: str, folded: bytes) -> Iterator[Hit]:
    """Session values in `Cookie:` and `Set-Cookie:` lines."""
    for line in COOKIE_LINE.finditer(folded):
        for cookie in COOKIE.finditer(text, *line.span(1)):
            value = cookie.group(2)
            long_random = len(value) >= 20 and DIGIT.search(value) and LETTER.search(value)
            told = COOKIE_NAMES.search(cookie.group(1)) and len(value) >= 8
            if (told or long_random) and not is_stand_in(value):
                yield Hit(*cookie.span(2), "cookie", "cookie", Rank.CONTEXT)


def _is_basic(value: str) -> bool:
    """Whether `value` is base64 of `name:password`."""
    try:
        plain = base64.b64decode(value.replace("-", "+").replace("_", "/") + "===", validate=False)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[1:] and all(32 <= byte < 127 or byte >= 160 for byte in plain)
