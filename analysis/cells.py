"""The rounds of a run in at most so many cells: what the run page's map is drawn of.

Made when the detectors read the run, which holds all rounds anyway, so that drawing the map takes
the same time for 52 and for 32,843 rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from transcripts.record import Round
from transcripts.selectors.pages import WORST_FIRST, Bin, RoundBins, bin_size

MAX_CELLS = 120
_RANK = {stop.value: rank for rank, stop in enumerate(WORST_FIRST)}


def last_round(*, last: int, completeness: Mapping[str, Any]) -> int:
    """The number of the last round, counting those that should have come."""
    return max(last, int(completeness.get("rounds_expected") or 0))


def cells_of(rounds: Iterable[Round], *, last: int) -> dict[str, Any]:
    """{"last", "top", "cells"}: `cells` has [cell from 0, worst stop reason, tokens of its last
    round] for each cell that holds a round, `top` is the largest input in tokens.
    """
    size = bin_size(last=last, bins=MAX_CELLS)
    stops: dict[int, str] = {}
    tokens: dict[int, int | None] = {}
    top: int | None = None
    for round_ in rounds:
        cell = (round_.number - 1) // size
        stop = str(round_.stop)
        if cell not in stops or _RANK[stop] < _RANK[stops[cell]]:
            stops[cell] = stop
        tokens[cell] = round_.tokens_in
        if round_.tokens_in is not None:
            top = max(top or 0, round_.tokens_in)
    return {
        "last": last,
        "top": top,
        "cells": [[cell, stops[cell], tokens[cell]] for cell in sorted(stops)],
    }


def bins_of(stored: Mapping[str, Any], *, last: int) -> RoundBins | None:
    """What `cells_of` made; None where that was of another number of rounds."""
    if stored.get("last") != last:
        return None
    size = bin_size(last=last, bins=MAX_CELLS)
    bins = [
        Bin(cell * size + 1, min((cell + 1) * size, last), stop, tokens)
        for cell, stop, tokens in stored["cells"]
    ]
    return RoundBins(bins, stored["top"])
