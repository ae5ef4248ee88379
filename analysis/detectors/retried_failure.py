from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import ordinal, quoted, rounds

MIN_FAILURES = 3

# Words of an error that tell the caller what to do next.
_NEXT_STEP = Pattern(
    r"(?i)\b(?:try|use|please|instead|should|must|valid (?:values|options)|expected|allowed"
    r"|available|did you mean|"
    r"one of|see|contact|retry (?:after|in)|required|provide|call \w+|check|search|ask|hand)\b"
)


@detector(version=1, severity=Severity.FAULT, odd=False, rank=58)
def retried_failure(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Failure tried again.

    The same tool fails 3 times in a row.

    Why it matters: what failed twice rarely works at the third try.
    Stays silent: as soon as one call of the tool works.
    Yields: one finding for each row of failures, at the third; it says whether the last error
    gave a next step.
    Likely cause: the error is generic: it names neither its cause nor what to do.
    Fix in code: let the error say its cause and the next action, or "give up"; stop retrying
    after two.
    Source: retry loops of the field.
    """
    rows: dict[str, list[CallReading]] = {}
    for call in reading.calls:
        row = rows.setdefault(call.name, [])
        if call.failed:
            row.append(call)
        else:
            yield from _claim(row)
            rows[call.name] = []
    for row in rows.values():
        yield from _claim(row)


def _claim(row: list[CallReading]) -> Iterator[Draft]:
    if len(row) < MIN_FAILURES:
        return
    third, last = row[MIN_FAILURES - 1], row[-1]
    error = third.error or ""
    told = _NEXT_STEP.search(error) is not None
    hint = "" if told else " The error gives no next step."
    before = rounds(list(dict.fromkeys(call.round for call in row[: MIN_FAILURES - 1])))
    more = f", and {len(row) - MIN_FAILURES} more after it" if len(row) > MIN_FAILURES else ""
    yield Draft(
        at=third.place,
        to_round=last.round if last.round != third.round else None,
        why=(
            f"{third.name} fails for the {ordinal(MIN_FAILURES)} time in a row, "
            f"after {before}{more}: "
            f"{quoted(error, 100)}.{hint}"
        ),
        brief=f"{third.name} fails again and again",
        tool=third.name,
        evidence=places(row),
        values={"times": len(row), "error": error, "next_step": told},
    )
