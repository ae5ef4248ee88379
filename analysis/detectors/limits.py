"""Thresholds that a project, an agent or a tool may set; the defaults are each detector's own reasons."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Filled in with the suite."""
