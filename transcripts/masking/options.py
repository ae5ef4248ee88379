"""What a project chooses about masking."""

from __future__ import annotations

from dataclasses import dataclass

from transcripts.masking import names
from transcripts.masking.names import Strength


@dataclass(frozen=True, slots=True)
class Options:
    """Personal data that is masked as well as secrets.

    `names` are further names (JSON keys, variables, headers), in lower case, whose values are
    always masked.
    """

    card: bool = True
    iban: bool = True
    email: bool = False
    phone: bool = False
    names: frozenset[str] = frozenset()

    def strength(self, name: str) -> Strength:
        """What `name` says about its value, the project's own names included."""
        return Strength.STRONG if name.lower() in self.names else names.strength(name)


DEFAULT = Options()
