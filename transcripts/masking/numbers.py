"""Payment cards, bank accounts and, by choice, e-mail addresses and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from transcripts.masking.fold import gate, pattern
from transcripts.masking.options import Options
from transcripts.masking.spans import Hit, Rank

CARD: Final = pattern(r"\b([2-6](?:[ -]?\d){12,18})\b")
# Lengths in use; the others that the standard allows are met more often as ids and article numbers.
CARD_LENGTHS: Final = {"2": (16,), "3": (14, 15, 16), "4": (16,), "5": (16,), "6": (16,)}
# First digits of Visa, Mastercard, American Express, Diners, Discover, UnionPay, JCB, Maestro.
ISSUER: Final = re.compile(
    r"^(?:4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|30[0-5]|3[689]|6011|64[4-9]|65|62"
    r"|35(?:2[89]|[3-8])|50[0-9]{2}|5[6-8]|6(?:304|759|76[1-3]))"
)
GROUPED: Final = re.compile(r"^(?:\d+|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{4,5})$")
LISTED_BEFORE: Final = re.compile(rb"[0-9A-Fa-f]{4}\s$")
LISTED_AFTER: Final = re.compile(rb"\s[0-9A-Fa-f]{4}\b")
IBAN: Final = pattern(r"\b([a-z]{2}\d{2}(?:[ ]?[a-z0-9]{4}){2,7}(?:[ ]?[a-z0-9]{1,4})?)\b")
# Whole length of an account number by country (ISO 13616 registry).
IBAN_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30,
    "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
    "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23,
    "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
CARD_OR_IBAN: Final = gate(CARD, IBAN)
EMAIL: Final = pattern(r"\b([a-z0-9._%+\-]{1,64}@[a-z0-9](?:[a-z0-9\-]{0,62}\.)+[a-z]{2,24})\b")
PHONE: Final = pattern(
    r"(?:^|[\s(:;,\"'>])((?:\+|00)[1-9][\d ()/.\-]{6,20}\d|\(\d{3}\) ?\d{3}-\d{4}"
    r"|\d{3}-\d{3}-\d{4})\b"
)


def number_hits(folded: bytes, options: Options) -> Iterator[Hit]:
    """What `options` asks for of cards, accounts, addresses and numbers in a folded text."""
    if CARD_OR_IBAN.search(folded):
        if options.card:
            yield from (
                hit for hit in _each(CARD, folded, "card", is_card) if _stands_alone(folded, hit)
            )
        if options.iban:
            yield from _ibans(folded)
    if options.email:
        yield from _each(EMAIL, folded, "email", lambda _value: True)
    if options.phone:
        yield from _each(
            PHONE, folded, "phone", lambda value: 7 <= sum(map(str.isdigit, value)) <= 15
        )


def is_card(value: str) -> bool:
    """Whether `value` is a card number: issuer, length, grouping and Luhn digit."""
    if not GROUPED.match(value):
        return False
    digits = re.sub(r"[ -]", "", value)
    if len(digits) not in CARD_LENGTHS[digits[0]] or not ISSUER.match(digits):
        return False
    return luhn(digits)


def is_phone(value: str) -> bool:
    """Whether `value` has as many digits as a phone number may have (ITU-T E.164)."""
    return 7 <= sum(map(str.isdigit, value)) <= 15


def luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit of the others (ISO/IEC 7812-1)."""
    total = 0
    for index, digit in enumerate(reversed(digits)):
        number = int(digit)
        if index % 2:
            number = number * 2 - (9 if number > 4 else 0)
        total += number
    return total % 10 == 0


def is_iban(value: str) -> bool:
    """Whether `value` is an IBAN: its country's length and mod-97 check (ISO 13616)."""
    bare = value.replace(" ", "").upper()
    if len(bare) != IBAN_LENGTHS.get(bare[:2]):
        return False
    turned = bare[4:] + bare[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


def _stands_alone(folded: bytes, hit: Hit) -> bool:
    """Whether a card number is no part of a path, a longer name, or a list of numbers."""
    before, after = folded[max(0, hit.start - 5) : hit.start], folded[hit.end : hit.end + 5]
    if before[-1:] in (b"/", b"-", b"_", b".", b"#") or after[:1] in (b"/", b"_"):
        return False
    return not (LISTED_BEFORE.search(before) or LISTED_AFTER.match(after))


def _ibans(folded: bytes) -> Iterator[Hit]:
    for found in IBAN.finditer(folded):
        start, end = found.span(1)
        value = folded[start:end].decode("latin-1")
        # Words after the number may look like more of it: cut to the country's length.
        length = IBAN_LENGTHS.get(value[:2].upper(), 0)
        seen = 0
        for index, character in enumerate(value):
            seen += character != " "
            if seen == length:
                if is_iban(value[: index + 1]):
                    yield Hit(start, start + index + 1, "iban", "iban", Rank.CONTEXT)
                break


def _each(rule: Any, folded: bytes, name: str, holds: Any) -> Iterator[Hit]:
    for found in rule.finditer(folded):
        start, end = found.span(1)
        if holds(folded[start:end].decode("latin-1")):
            yield Hit(start, end, name, name, Rank.CONTEXT)
