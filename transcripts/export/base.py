"""What an export format is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from transcripts.masking.types import MaskedRun
from transcripts.record import RunRecord


@dataclass(frozen=True, slots=True)
class Exporter:
    """One target format: writes a masked run as text, and says what of it the format cannot hold.

    `suffix` ends the file's name (`.json`), `media_type` is for HTTP. `lost` lists in plain words
    what is left out of this run.
    """

    name: str
    title: str
    suffix: str
    media_type: str
    write: Callable[[MaskedRun], str]
    lost: Callable[[RunRecord], tuple[str, ...]]
