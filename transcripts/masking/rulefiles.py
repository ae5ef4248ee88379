"""The rule files of this package, and the version of the set that each run's receipt names."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import re2

from transcripts.masking.fold import pattern

FOLDER: Final = Path(__file__).parent / "rules"


@dataclass(frozen=True, slots=True)
class TextRule:
    """One pattern rule. Without one of `needs` in a text its pattern need not be tried.

    `must` and `must_not` are texts that the tests try it on.
    """

    id: str
    family: str
    pattern: Any
    check: str
    needs: tuple[bytes, ...]
    must: str
    must_not: str


@cache
def text_rules(name: str) -> tuple[TextRule, ...]:
    """The rules of `rules/<name>.toml`, compiled."""
    with (FOLDER / f"{name}.toml").open("rb") as file:
        listed = tomllib.load(file)["rule"]
    return tuple(
        TextRule(
            **{
                **rule,
                "pattern": pattern(rule["pattern"]),
                "needs": tuple(word.encode() for word in rule["needs"]),
            }
        )
        for rule in listed
    )


@cache
def any_needed(name: str) -> Any:
    """A pattern that finds a needed word of some rule: most texts have none, and need no more."""
    return pattern("|".join(re2.escape(word.decode()) for word in all_needed(name)))


@cache
def all_needed(name: str) -> tuple[bytes, ...]:
    """The words that rules of `rules/<name>.toml` need, each once."""
    return tuple(sorted({word for rule in text_rules(name) for word in rule.needs}))


@cache
def rule_set() -> str:
    """The rule set's version: `1-kf1.5.0-8hex`; the end changes with any byte of a rule file."""
    from kingfisher_sdk import __version__ as engine_version

    digest = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    number = (FOLDER / "VERSION").read_text().strip()
    return f"{number}-kf{engine_version}-{digest.hexdigest()[:8]}"
