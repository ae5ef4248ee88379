"""What an export format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from transcripts.export.losses import loss_words, losses
from transcripts.masking.types import MaskedRun
from transcripts.record import RunRecord


@dataclass(frozen=True, slots=True)
class Exporter:
    """One target format: writes a masked run as text, and says what of it the format cannot hold.

    `suffix` ends the file's name (`.json`), `media_type` is for HTTP. `loses` names the kinds of
    `transcripts.export.losses` that the format has no place for.
    """

    name: str
    title: str
    suffix: str
    media_type: str
    write: Callable[[MaskedRun], str]
    loses: tuple[str, ...] = ()

    def lost(self, run: RunRecord) -> tuple[str, ...]:
        """In plain words what is left out of this run."""
        return losses(run, *self.loses)

    @property
    def cannot_hold(self) -> tuple[str, ...]:
        """In plain words what is left out of any run that has it."""
        return loss_words(*self.loses)
