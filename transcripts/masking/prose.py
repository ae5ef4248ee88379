"""Passwords, keys and codes as people write them in tickets, in seven languages."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from transcripts.masking.budget import Budget
from transcripts.masking.fold import gate, pattern
from transcripts.masking.rulefiles import FOLDER
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.values import DIGIT, LETTER, SPEECH, is_stand_in

# How far after a noun its secret may stand, in characters; it never crosses the end of a sentence.
REACH: Final = 90
BEFORE: Final = 60
SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[\n\r]|$")
CANDIDATE: Final = re.compile(r"[^\s\"'<>|\\]{3,128}")
PASSPHRASE: Final = re.compile(r"[A-Za-z0-9-]{2,20}(?: [A-Za-z0-9-]{2,20}){2,7}")
QUOTES: Final = "\"'"
NUMBER: Final = re.compile(
    r"[#*]?\d{4,12}(?:[#*]|\b)(?![.,:/-]\d)|\d{2,4}(?:[ -]\d{2,4}){1,4}(?![\w-]|[.,:]\d)"
)
# What may stand between a noun and its secret where no word links them.
GAP: Final = re.compile(r"(?:\s?[:=]\s|\s)\s?[\"'(\[]{0,2}(?=\S)")
# One signs in with a browser, too: "Chrome138" is a word with a number, "Alpine.2219" is not.
ODD: Final = re.compile(r"(?=\S*(?:[!@#$%^&*?._~§-]\S|\d[A-Za-z]|\d[!?]))")
GROUPS: Final = re.compile(r"(?:[A-Z0-9]{4,8}-){1,9}[A-Z0-9]{4,8}(?![\w-])")
# What has letters and digits and is no password: versions, dates, amounts, files, addresses, code.
OTHER: Final = re.compile(
    r"""(?x) ^(?:
      v?\d+(?:[.:]\d+)+[a-z]? | \d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}
    | [-+]?\d+(?:[.,]\d+)?[a-zA-Z%°€$]{1,6} | [$€£]\d.* | 0x[0-9a-fA-F]+
    | .*[/\\].*[/\\].* | [a-z]+://.* | .*@[\w-]+\.\w.*
    | [\w-]+\.(?:py|js|ts|txt|md|json|ya?ml|csv|xml|html?|exe|dll|log|sh|ps1|pdf|docx?|xlsx?|zip
      |cfg|ini|pem)
    | (?:\d{1,3}\.){3}\d{1,3}.* | \w+\(.* | .*\)$ | \d+(?:st|nd|rd|th|x|k|m|g)?
    | [a-z]+(?:\.[a-z]+)+\d* | [+\d][\d\s().+-]+ | \*.* | [a-z]+\d?[a-z]+_[a-z_]+\d?
    | [-+*/=<>!&|^%~:]+.* | .*[=:]$ | \d+-[a-z]+ | [a-z]{2,8}-\d{1,2}
    | (?:[A-Za-z_]\w*\.)+[A-Za-z_]+ | \#[a-z][\w-]* | .*\.html?\#.*
    | (?:CVE|CWE|GHSA|RFC|ISO|DIN|PEP)-?\d[\w-]*
    | (?i:mfa|2fa|wpa\d?\w*|o(?:ffice)?365|md5|sha-?\d+|base64|utf-?8|oauth2?|http/?[\d.]*
      |ipv[46]|win(?:dows)?\d+|h26\d|s3|ec2|k8s|x509|log4j|tls1.*|aes-?\d+|python\d?|rsa\d+
      |p12|pkcs\#?\d+|id\d+|user\d+)
    ) $"""
)
DATE: Final = re.compile(r"(?:19|20)\d\d-[01]\d-[0-3]\d$")
TICKET: Final = re.compile(r"^[A-Z]{1,10}[-_]?\d+$")
STRONG_SYMBOL: Final = re.compile(r"[!@#$%^&*?§~]")


@dataclass(frozen=True)
class _Words:
    noun: Any
    number_noun: Any
    link: re.Pattern[str]
    change_link: re.Pattern[str]
    change_word: re.Pattern[str]
    sign_in: Any
    pair: Any
    used_as: Any
    changed_it: Any

    @cached_property
    def any(self) -> Any:
        """Matches where one of the patterns that a search begins with does."""
        return gate(
            *(self.noun, self.number_noun, self.sign_in, self.pair, self.used_as, self.changed_it)
        )


@cache
def _words() -> _Words:
    with (FOLDER / "prose.toml").open("rb") as file:
        lists = tomllib.load(file)

    def any_of(name: str) -> str:
        return "|".join(sorted(lists[name], key=len, reverse=True))

    nouns = f"{any_of('nouns')}|{any_of('number_nouns')}"
    opening = r"""["'(\[]{0,2}"""
    pronouns = "it|them|that|me|mine|das|es|mich|ihn|sie|le|la|lo|me|het|dit|o"
    return _Words(
        noun=pattern(rf"\b(?:{any_of('nouns')})\b"),
        number_noun=pattern(rf"\b(?:{any_of('number_nouns')})\b"),
        link=re.compile(
            rf"(?i)(?:(?<!\w)(?:{any_of('links')})(?!\w)(?:\s(?:{any_of('adverbs')})(?!\w))?\s?:?|(?<![!=<>~+-])[:=](?=\s|[\"'])|(?<=\s)[(>])"
            rf"\s{{0,3}}{opening}(?=\S)"
        ),
        change_link=re.compile(rf"(?i)(?<!\w)(?:{any_of('change_links')})\s{{1,2}}{opening}(?=\S)"),
        change_word=re.compile(rf"(?i)(?<![^\W_])(?:{any_of('change_words')})"),
        sign_in=pattern(
            rf"\b(?:{any_of('sign_in')})\b[^.!?\n]{{0,50}}?"
            rf"\b(?:{any_of('with_words')})\s{{1,2}}{opening}"
        ),
        pair=pattern(
            rf"""\b(?:{any_of("account_words")})(?:\s(?:is|are|were|ist|sind|lauten|est|sont|es|son|zijn|sono|s[aã]o))?"""
            rf"""(?:\s?:\s{{0,2}}|\s{{1,2}})["']?[\w.\-@\\]{{2,64}}(?::|\s{{0,2}}[/|]\s{{0,2}})"""
        ),
        changed_it=pattern(
            rf"\b(?:{any_of('change_words')})\w*\s(?:{pronouns})\s(?:back\s)?(?:{any_of('change_links')})\s{opening}"
        ),
        used_as=pattern(
            rf"\b(?:use|try|enter|set|take|verwende\w*|nimm|nehmen|utilise\w*|usa|usar|gebruik|usare)\s{{1,2}}{opening}"
            rf"""([^\s"']{{4,64}})["')\]]{{0,2}}\s{{1,2}}(?:{any_of("as_words")})\s[^.!?\n]{{0,30}}?\b(?:{nouns})\b"""
        ),
    )


def prose_hits(folded: bytes, budget: Budget) -> Iterator[Hit]:
    """Secrets that the sentences of a folded text give away."""
    words = _words()
    if not words.any.search(folded):
        return
    text = folded.decode("latin-1")
    for numeric, noun in ((False, words.noun), (True, words.number_noun)):
        for count, found in enumerate(noun.finditer(folded)):
            if count % 256 == 0:
                budget.check()
            yield from _after_noun(text, found.start(), found.end(), words, numeric=numeric)
    for found in words.sign_in.finditer(folded):
        if ODD.match(text, found.end()):
            yield from _candidate(text, found.end(), "signed-in-with", least=3)
    for found in words.pair.finditer(folded):
        yield from _candidate(text, found.end(), "login-pair", least=2)
    for found in words.changed_it.finditer(folded):
        for hit in _candidate(text, found.end(), "changed-to", least=3):
            yield hit
            then = words.change_link.search(text, hit.end, hit.end + 10)
            if then:
                yield from _candidate(text, then.end(), "changed-to", least=3)
    for found in words.used_as.finditer(folded):
        yield from _candidate(text, found.start(1), "used-as-password", least=2)


def _after_noun(text: str, start: int, end: int, words: _Words, *, numeric: bool) -> Iterator[Hit]:
    stop = SENTENCE_END.search(text, end, min(len(text), end + REACH))
    last = stop.start() if stop else min(len(text), end + REACH)
    if last <= end:
        return
    gap = GAP.match(text, end)
    if gap and gap.group().strip(" \t\"'([") == "":
        yield from _numbers_or_words(text, gap.end(), "noun-then-secret", numeric, least=3)
    elif gap:
        yield from _numbers_or_words(text, gap.end(), "said-to-be", numeric, least=2)
    for link in words.link.finditer(text, end, last):
        found = list(_numbers_or_words(text, link.end(), "said-to-be", numeric, least=2))
        if found:
            yield from found
            return
    if not words.change_word.search(text, max(0, start - BEFORE), last):
        return
    for link in words.change_link.finditer(text, end, last):
        yield from _numbers_or_words(text, link.end(), "changed-to", numeric, least=3)


def _numbers_or_words(text: str, at: int, rule: str, numeric: bool, *, least: int) -> Iterator[Hit]:
    number = (NUMBER.match(text, at) if numeric else None) or GROUPS.match(text, at)
    if number and DIGIT.search(number.group()) and not DATE.match(number.group()):
        yield Hit(at, number.end(), rule, "code", Rank.PROSE)
        return
    yield from _candidate(text, at, rule, least=least)


def _candidate(text: str, at: int, rule: str, *, least: int) -> Iterator[Hit]:
    """The word at `at` if its `shape` is at least `least`, or the quoted words there."""
    opener = text[at - 1] if at else ""
    if opener in QUOTES and opener:
        close = text.find(opener, at, at + 80)
        value = text[at:close] if close > at else ""
        if len(value) >= 4 and not SPEECH.search(value) and not is_stand_in(value):
            one_word = " " not in value and shape(value) >= 1 and not OTHER.match(value)
            if one_word or PASSPHRASE.fullmatch(value):
                yield Hit(at, close, rule, "password", Rank.PROSE)
        return
    found = CANDIDATE.match(text, at)
    if found is None:
        return
    whole = found.group()
    value = whole.rstrip(".,;:)]}")
    if "{" in value and whole[len(value) : len(value) + 1] == "}":
        value += "}"
    if "[" in value or "(" in value:  # words of code
        return
    if shape(value) >= least and not OTHER.match(value) and not is_stand_in(value):
        yield Hit(at, at + len(value), rule, "password", Rank.PROSE)


def shape(value: str) -> int:
    """How much `value` looks like a password: 0 a word, 1 odd, 2 letters with digits, 3 more."""
    bare = value.rstrip("!?")
    if len(value) < 4 or not LETTER.search(value) or TICKET.match(value):
        return 0
    digits, symbols = bool(DIGIT.search(value)), bool(STRONG_SYMBOL.search(bare))
    upper = any(c.isupper() for c in value)
    lower = any(c.islower() for c in value)
    if not digits and not symbols:
        return 0
    if digits and (symbols or (upper and lower) or len(value) >= 16 or value != bare):
        return 3
    if digits or (symbols and upper and lower):
        return 2
    return 1
