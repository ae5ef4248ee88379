"""What masking raises."""

from __future__ import annotations


class MaskingError(Exception):
    """Something could not be masked. Nothing of it may be stored; the message holds no content."""


class OutOfTimeError(Exception):
    """A text took longer than its budget; the caller replaces the whole of it."""
