"""Masking of secrets: what is stored, logged or sent on has been through here.

`Masker` masks the texts of one run. No Django: `./desk check` and `./desk mask` run it alone.
"""

from transcripts.masking.errors import MaskingError
from transcripts.masking.masker import MaskedSpan, Masker, mask_spans
from transcripts.masking.options import Options, OwnRule, own_rule
from transcripts.masking.placeholders import PLACEHOLDER, RunKey
from transcripts.masking.types import (
    MaskedRun,
    MaskedText,
    MaskReceipt,
    derived_text,
    masked_text,
)

__all__ = [
    "PLACEHOLDER",
    "MaskReceipt",
    "MaskedRun",
    "MaskedSpan",
    "MaskedText",
    "Masker",
    "MaskingError",
    "Options",
    "OwnRule",
    "RunKey",
    "derived_text",
    "mask_spans",
    "masked_text",
    "own_rule",
]
