from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import Reading
from analysis.detectors.reading.episodes import MOST_EVIDENCE
from analysis.detectors.reading.words import count, quoted
from analysis.places import Place
from transcripts.record import Stop


@detector(version=1, severity=Severity.LEAD, odd=False, rank=32)
def unknown_stop(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Unknown stop reason.

    The service gave a reason for stopping that is not in the table.

    Why it matters: a loop that does not know a reason goes on, or stops, by chance.
    Stays silent: where no reason was given at all.
    Yields: one finding for each label, at its first round.
    Likely cause: a new model or service, or a proxy that writes labels of its own.
    Fix in code: treat unknown reasons as an error and log them; add the label to the table.
    Source: the table of stop reasons.
    """
    rounds: dict[str, list[int]] = {}
    for round_ in reading.rounds:
        if round_.stop == Stop.UNKNOWN and round_.stop_raw:
            rounds.setdefault(round_.stop_raw, []).append(round_.number)
    for label, numbers in rounds.items():
        yield Draft(
            at=Place(numbers[0]),
            why=(
                f"The stop reason {quoted(label, 60)} is not known, "
                f"in {count(len(numbers), 'round')}."
            ),
            brief="the stop reason is not known",
            evidence=tuple(Place(number) for number in numbers[:MOST_EVIDENCE]),
            values={"label": label, "rounds": len(numbers), "error": label},
        )
