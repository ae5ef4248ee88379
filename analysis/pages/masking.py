"""What the page on masking says about the rules."""

from __future__ import annotations

from functools import cache

import yaml

from transcripts.masking.rulefiles import FOLDER, text_rules

# Personal data: what it is called, what is masked, and a made-up example before and after.
KINDS = {
    "card": (
        "Payment cards",
        "numbers that an issuer gives out and whose check digit is right",
        "paid with 4539 1488 0343 6467",
        "paid with [SECRET:card:7d31f0a4]",
    ),
    "iban": (
        "Bank accounts (IBAN)",
        "numbers of the right length for their country whose check digits are right",
        "from DE89 3704 0044 0532 0130 00",
        "from [SECRET:iban:51c98e0b]",
    ),
    "email": (
        "E-mail addresses",
        "every address, of your own people as well",
        "ask anna.ruiz@contoso.example",
        "ask [SECRET:email:e2604d97]",
    ),
    "phone": (
        "Phone numbers",
        "numbers that start with + or 00, and numbers as they are written in North America",
        "call +49 30 901820",
        "call [SECRET:phone:0b8ac35f]",
    ),
}


@cache
def built_in_count() -> int:
    """How many rules of Agentdesk's own hold in every project, beside those of the engine."""
    engine_rules = yaml.safe_load((FOLDER / "engine.yml").read_text(encoding="utf-8"))["rules"]
    return len(engine_rules) + len(text_rules("context"))
