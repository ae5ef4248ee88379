"""Which names say that their value is a secret."""

from __future__ import annotations

import re
import tomllib
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

NAMES: Final = Path(__file__).parent / "rules" / "names.toml"
CAMEL: Final = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD: Final = re.compile(r"[^\W_]+")
# Longest name that is looked at, in characters; longer ones are text.
LONGEST: Final = 120


class Strength(IntEnum):
    """How much a name says about its value."""

    NONE = 0
    WEAK = 1
    STRONG = 2


@cache
def _lists() -> dict[str, frozenset[str]]:
    with NAMES.open("rb") as file:
        return {name: frozenset(words) for name, words in tomllib.load(file).items()}


@lru_cache(maxsize=8192)
def strength(name: str) -> Strength:
    """What `name` (a key, variable, header or field) says about its value."""
    if len(name) > LONGEST:
        return Strength.NONE
    words = [word.lower() for word in WORD.findall(CAMEL.sub(" ", name))]
    lists = _lists()
    while len(words) > 1 and (words[-1] in lists["tails"] or words[-1].isdigit()):
        words.pop()
    if not words:
        return Strength.NONE
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in ("key", "keys"):
        return Strength.STRONG if before in lists["keys_after"] else Strength.NONE
    if last in ("token", "tokens"):
        if before in lists["no_tokens_after"]:
            return Strength.NONE
        return Strength.STRONG if before and last == "token" else Strength.WEAK
    endings = {last, " ".join(words[-2:]), " ".join(words[-3:])}
    if endings & lists["strong"] or last.endswith(tuple(lists["strong_endings"])):
        return Strength.STRONG
    if endings & lists["weak"]:
        return Strength.WEAK
    return Strength.NONE


def family_of(name: str) -> str:
    """The family that a placeholder shows for a value under `name`."""
    lowered = name.lower()
    if "token" in lowered or "bearer" in lowered or "jwt" in lowered:
        return "token"
    if any(part in lowered for part in ("key", "schl", "psk", "seed", "mnemonic")):
        return "key"
    if any(part in lowered for part in ("pin", "otp", "code", "cvv", "cvc")):
        return "code"
    if any(part in lowered for part in ("secret", "credential", "sig", "auth")):
        return "secret"
    return "password"
