"""What one detector says of a run, in short."""

from __future__ import annotations

from analysis.detectors import detector_named
from analysis.detectors.base import Draft
from analysis.detectors.limits import DEFAULT, Limits
from analysis.detectors.reading import Reading
from transcripts.record import RunRecord


def drafts(name: str, run: RunRecord, limits: Limits = DEFAULT) -> list[Draft]:
    """Every claim of the detector of that name."""
    detector = detector_named(name)
    assert detector is not None
    return list(detector.find(Reading(run, limits), limits))


def rounds(name: str, run: RunRecord, limits: Limits = DEFAULT) -> list[int]:
    """The rounds at which it speaks."""
    return [draft.at.round for draft in drafts(name, run, limits)]
