"""Whether a rule that a project wants does what it is for, and no harm."""

from __future__ import annotations

import re
import time
from typing import Final

from transcripts.masking.fold import fold
from transcripts.masking.masker import mask_spans
from transcripts.masking.options import OwnRule, own_rule
from transcripts.masking.types import MaskedText, masked_text

FAMILY: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
LONGEST_EXAMPLE: Final = 2000
# Rules that know a secret by its own form, beside those of the engine.
FORMS: Final = frozenset({"card", "iban", "private-key-block", "putty-private-key", "base64"})
# What nobody wants masked. A rule that takes much of it would leave nothing to read.
ORDINARY: Final = """\
Round 3: the model asked for get_employee and got {"id": 2210, "name": "Anna Ruiz", "laptop": null}.
The VPN profile of the ticket IT-20931 was reset on 2026-11-30 at 10:11, and the user signed in.
Traceback (most recent call last): File "main.py", line 42, in run: KeyError: 'status'
{"page": 4, "items": ["invoice", "contract"], "total": 1298.50, "currency": "EUR", "open": true}
I could not find a matching record. Please check https://portal.example.com/kb/reset and try again.
"""
MOST_OF_ORDINARY: Final = 0.25
# A text that is long and odd, and the CPU time a rule may take on it: all of masking has 1.5 s for
# 1 MB, and a project may have many rules.
PACE_TEXT: Final = (ORDINARY + "a" * 400 + "0123456789" * 40 + "aA1-_" * 80 + " " * 200) * 100
PACE_SECONDS_PER_MB: Final = 0.25


def tried_rule(id: str, pattern: str, *, family: str, must: str, must_not: str) -> OwnRule:
    """A project's rule once its pattern and examples have been checked.

    Raises `ValueError` with the reason why it cannot be used, which quotes none of them.
    """
    if not FAMILY.fullmatch(family):
        raise ValueError("the family may have 40 small letters, digits and hyphens")
    rule = own_rule(id, pattern, family)
    for text in (must, must_not):
        if len(text) > LONGEST_EXAMPLE:
            raise ValueError(f"an example may have {LONGEST_EXAMPLE} characters")
    if not list(rule.hits(fold(must))):
        raise ValueError("the pattern does not match the example that it must match")
    if list(rule.hits(fold(must_not))):
        raise ValueError("the pattern matches the example that it must not match")
    _refuse_greed(rule)
    _refuse_slowness(rule)
    return rule


def pattern_text(pattern: str) -> MaskedText:
    """A pattern as it is kept, which is not masked: it would be another one then.

    Raises `ValueError` for a pattern that holds a secret itself.
    """
    # Names beside signs are common in patterns; only what is a secret by its own form counts.
    if any("." in span.rule or span.rule in FORMS for span in mask_spans(pattern)):
        raise ValueError("the pattern itself holds a secret: describe its form, not its value")
    return masked_text(pattern)


def _refuse_greed(rule: OwnRule) -> None:
    taken = sum(hit.end - hit.start for hit in rule.hits(fold(ORDINARY)))
    if taken > MOST_OF_ORDINARY * len(ORDINARY):
        share = round(100 * taken / len(ORDINARY))
        raise ValueError(f"the pattern would mask {share} % of ordinary text: make it narrower")


def _refuse_slowness(rule: OwnRule) -> None:
    folded = fold(PACE_TEXT)
    started = time.thread_time()
    for _ in rule.hits(folded):
        pass
    pace = (time.thread_time() - started) / (len(folded) / 1e6)
    if pace > PACE_SECONDS_PER_MB:
        raise ValueError(
            f"the pattern takes {pace:.1f} s for a text of 1 MB; {PACE_SECONDS_PER_MB} s is allowed"
        )
