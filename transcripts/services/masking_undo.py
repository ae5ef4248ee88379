"""Takes back what a project chose about masking. It holds for what comes from then on, as every
choice does: what was stored meanwhile stays as it was stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transcripts.access import May, Reader
from transcripts.models import MaskingChoice, MaskRule, NotSecret
from transcripts.services.masking import choices_locked, version_raise
from transcripts.undo import undoes
from transcripts.undo_rows import Rows, pairs_of

CHOICE, RULE, ENTRY = "masking_choice", "mask_rule", "not_secret"
CHOICES = Rows(
    MaskingChoice,
    ("card", "iban", "email", "phone", "names"),
    name=lambda _: "What is masked besides secrets",
)
RULES = Rows(
    MaskRule,
    ("name", "family", "pattern", "must", "must_not", "changed_at", "changed_by_id"),
    name=lambda rule: f"The rule {rule.name}",
)
ENTRIES = Rows(
    NotSecret,
    ("digest", "shown", "why", "added_at", "added_by_id"),
    name=lambda _: "The entry",
)
MEANWHILE = "What came in the meantime was stored without it: mask past runs again to change that."


@undoes(CHOICE, may=May.ADMINISTER)
def choice_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Mask the personal data that was masked before."""
    _put_back(CHOICES, reader, noted)
    return "What is masked besides secrets is as before, for what comes from now on."


@undoes(RULE, may=May.ADMINISTER)
def rule_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Remove a new rule, let an edited one be as it was, or bring a removed one back."""
    before, after = pairs_of(noted)[0]
    _put_back(RULES, reader, noted)
    if before is None:
        return "The rule is gone. What it masked stays masked."
    if after is None:
        return f"The rule {before['name']} is back. {MEANWHILE}"
    return f"The rule {before['name']} is as before, for what comes from now on."


@undoes(ENTRY, may=May.ADMINISTER)
def entry_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Take a value off the list of what is no secret, or put it there again."""
    before, _ = pairs_of(noted)[0]
    _put_back(ENTRIES, reader, noted)
    if before is None:
        return "It is off the list, and masked again in what comes from now on."
    return "It is on the list again, and left alone in what comes from now on."


def _put_back(rows: Rows, reader: Reader, noted: Mapping[str, Any]) -> None:
    choices_locked(reader.project)
    rows.put_back(reader.project, pairs_of(noted))
    version_raise(reader.project)
