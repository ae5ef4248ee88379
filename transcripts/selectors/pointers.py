"""Finds rounds again by what was kept to point at them.

The number of a round changes where spans come late: an earlier request takes its place, and all
after it move on. What is written about a round (an annotation, an incident's evidence) therefore
keeps `Round.pointer`: a stand-in for the sender's own name of the round, or `#` and the number
where the sender gave no name, since such rounds are never renumbered.
"""

from __future__ import annotations

from collections.abc import Iterable

from transcripts.models import Round, Run
from transcripts.models.idents import NUMBERED, POINTER_LENGTH


def pointers_of(*, run: Run, numbers: Iterable[int]) -> dict[int, str]:
    """What points at the rounds with these numbers, by number; rounds that are not there are left
    out.
    """
    found = Round.objects.filter(run=run, number__in=list(numbers)).order_by("number")
    return {round_.number: round_.pointer for round_ in found.only("run_id", "number", "ident")}


def numbers_of(*, run: Run, pointers: Iterable[str]) -> dict[str, int]:
    """The numbers that rounds have now, by pointer. A pointer to no round is left out: its request
    is told by another span now, or it has moved to the run of an agent within.
    """
    wanted = {pointer for pointer in pointers if 0 < len(pointer) <= POINTER_LENGTH}
    said = {int(p[1:]) for p in wanted if p[0] == NUMBERED and p[1:].isdecimal()}
    idents = [pointer for pointer in wanted if pointer[0] != NUMBERED]
    rounds = Round.objects.filter(run=run)
    there = rounds.filter(number__in=said).order_by("number").values_list("number", flat=True)
    found = {f"{NUMBERED}{number}": number for number in there}
    if idents:
        named = rounds.filter(ident__in=idents).order_by("-number").values_list("ident", "number")
        # The first of those that a sender gave one name.
        found |= dict(named)
    return found
