"""The time that one text may take, so that no hostile text stops the worker."""

from __future__ import annotations

import time
from typing import Final

from transcripts.masking.errors import OutOfTimeError

# CPU seconds per character and at least: plain texts need a tenth of it.
SECONDS_PER_CHARACTER: Final = 1.5e-6
SECONDS_AT_LEAST: Final = 1.5
# The engine measures wall time, which runs on while another process has the core.
WALL_PER_CPU: Final = 4.0


class Budget:
    """CPU time of the current thread, which does not run while the machine is busy with others."""

    def __init__(self, characters: int) -> None:
        seconds = max(SECONDS_AT_LEAST, characters * SECONDS_PER_CHARACTER)
        self._end = time.thread_time() + seconds

    def check(self) -> None:
        """Raise `OutOfTimeError` when the time is used up."""
        if time.thread_time() > self._end:
            raise OutOfTimeError

    def wall_seconds(self) -> float:
        """What is left as a wall-clock limit for one native call, at least 50 ms."""
        return max(0.05, (self._end - time.thread_time()) * WALL_PER_CPU)
