"""A run as detectors read it: the record with what several detectors derive from it, derived once."""

from transcripts.record import RunRecord


class Reading:
    """Filled in with the suite."""

    def __init__(self, run: RunRecord) -> None:
        self.run = run
