"""Where in a run something is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A round (number from 1) and, where one call is meant, its index (from 0) in the round."""

    round: int
    call: int | None = None
