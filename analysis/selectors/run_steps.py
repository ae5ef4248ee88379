"""The rounds of a run as what two runs are compared by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection

from analysis.comparing import Step
from analysis.detectors.reading.keys import read_args, stable
from transcripts.models import Run

# Characters of arguments and of a result that are read as a person would; longer ones are compared
# letter for letter.
LONGEST = 20_000

# Two queries, and no join: of a run that has just come in Postgres has no statistics, and would
# look through all of its calls for each of its rounds.
_ROUNDS = """
SELECT number, stop, CASE WHEN call_count = 0 THEN md5(reply) END
FROM transcripts_round WHERE run_id = %s ORDER BY number
"""
_CALLS = """
SELECT round_number, name, CASE WHEN length(args) <= %s THEN args ELSE md5(args) END,
       md5(result), is_error
FROM transcripts_toolcall WHERE run_id = %s ORDER BY round_number, index
"""
_ANSWERS = """
SELECT round_number, result, is_error FROM transcripts_toolcall
WHERE run_id = %s AND round_number = ANY(%s) ORDER BY round_number, name, args, index
"""


def run_steps(*, run: Run) -> list[Step]:
    """The rounds of a run in order. Calls count by their keys, as detectors compare them: the order
    of arguments, white space and values made up for one call make no difference, nor does the
    order of the calls of one round. Two queries; bytes a round, whatever it says.
    """
    calls: dict[int, list[tuple[bytes, str, str]]] = {}
    # Loops ask for the same again and again.
    keys: dict[tuple[str, str], bytes] = {}
    for number, name, args, result, failed in _rows(_CALLS, (LONGEST, run.pk)):
        # Empty answers differ from none.
        came = f"{result}{failed}"
        key = keys.get((name, args)) or keys.setdefault((name, args), key_of(name, args))
        calls.setdefault(number, []).append((key, name, came))
    return [
        step_of(number, stop, said, sorted(calls.get(number, ())))
        for number, stop, said in _rows(_ROUNDS, (run.pk,))
    ]


def run_answers(*, run: Run, numbers: Sequence[int]) -> dict[int, list[str]]:
    """What came back in some rounds with calls, in an order of its own. One query."""
    found: dict[int, list[str]] = {}
    for number, result, failed in _rows(_ANSWERS, (run.pk, list(numbers))):
        found.setdefault(number, []).append(answer_told(result, failed))
    return {number: sorted(each) for number, each in found.items()}


def answer_told(result: str | None, failed: bool | None) -> str:
    """What came back of a call without time stamps, request ids and durations."""
    told = "none" if result is None else f"={result}"
    if result and len(result) <= LONGEST:
        told = f"={stable(result)}"
    return f"{failed} {told}"


def step_of(
    number: int, stop: str, said: str | None, calls: Sequence[tuple[bytes, str, str]]
) -> Step:
    """A round to compare: `said` where it has no call, else its calls (key, name, what came)."""
    return Step(
        number=number,
        asked=(stop, *(key for key, _, _ in calls)),
        came=(said, _digest(came for _, _, came in calls)),
        tools=(stop, *(name for _, name, _ in calls)),
    )


def key_of(name: str, args: str) -> bytes:
    """What a call asks for, as detectors compare it."""
    return _digest((name, read_args(args)[1]))


def _digest(parts: Iterable[str]) -> bytes:
    told = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(told, digest_size=12).digest()


def _rows(sql: str, parameters: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        yield from cursor.fetchall()
