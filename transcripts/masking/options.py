"""What a project chooses about masking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import re2

from transcripts.masking import names
from transcripts.masking.fold import fold, pattern
from transcripts.masking.names import Strength
from transcripts.masking.spans import Hit, Rank

OWN_FAMILY: Final = "own"
LONGEST_PATTERN: Final = 1000
# Instructions of the compiled pattern; large repetitions of large sets make it slow and big.
LARGEST_PROGRAM: Final = 5_000


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule that a project adds; made by `own_rule`."""

    id: str
    pattern: Any
    family: str = OWN_FAMILY

    def hits(self, folded: bytes) -> Iterator[Hit]:
        """Where the rule matches in a folded text: its group if it has one, else the whole."""
        group = min(1, self.pattern.groups)
        for found in self.pattern.finditer(folded):
            start, end = found.span(group)
            if start < end:
                yield Hit(start, end, f"own.{self.id}", self.family, Rank.CONTEXT)


def own_rule(id: str, source: str, family: str = OWN_FAMILY) -> OwnRule:
    """A project's rule from its pattern in re2 syntax, case ignored; group 1 is the secret, if any.

    Raises `ValueError` that says why a pattern cannot be used: no re2, more than one group, matches
    nothing at all (it would match everywhere), too long or big, or needs letters outside Latin-1.
    """
    if len(source) > LONGEST_PATTERN:
        raise ValueError(f"the pattern has {len(source)} characters; {LONGEST_PATTERN} are allowed")
    try:
        made = pattern(source)
    except UnicodeEncodeError as error:
        raise ValueError(f"{source[error.start]!r} is outside Latin-1") from None
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    if made.programsize > LARGEST_PROGRAM:
        raise ValueError("the pattern is too big: repeat smaller parts, or fewer times")
    if made.groups > 1:
        raise ValueError(f"the pattern has {made.groups} groups; one is allowed, for the secret")
    if made.search(b"") is not None:
        raise ValueError("the pattern matches the empty text, so it would match everywhere")
    return OwnRule(id, made, family)


@dataclass(frozen=True, slots=True)
class Options:
    """Personal data that is masked as well as secrets.

    `names` are further names (JSON keys, variables, headers), in lower case, whose values are
    always masked. `rules` are the project's own. `version` names these choices in receipts; empty:
    a project that never chose.
    """

    card: bool = True
    iban: bool = True
    email: bool = False
    phone: bool = False
    names: frozenset[str] = frozenset()
    rules: tuple[OwnRule, ...] = ()
    version: str = ""

    def own_rule_may_hit(self, text: str) -> bool:
        """Whether a rule of the project matches in `text` as it stands."""
        if not self.rules:
            return False
        folded = fold(text)
        return any(rule.pattern.search(folded) for rule in self.rules)

    def strength(self, name: str) -> Strength:
        """What `name` says about its value, the project's own names included."""
        return Strength.STRONG if name.lower() in self.names else names.strength(name)


DEFAULT = Options()
