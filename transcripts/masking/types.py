"""The type of masked content. What stores or sends text takes these types alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from transcripts.record import RunRecord

_KEY: Final = object()


class MaskedText(str):
    """Text that has been through masking. Made by `transcripts.masking`, and by reading a masked
    column.

    A plain `str` where this type is asked for fails in the type check, and `MaskedText("…")` fails
    at run time, so that no code can declare text masked by wishing.
    """

    __slots__ = ()

    def __new__(cls, value: str, _key: object = None) -> MaskedText:
        if _key is not _KEY:
            raise TypeError("MaskedText is made by masking only")
        return super().__new__(cls, value)


def masked_text(value: str) -> MaskedText:
    """Mark `value` as masked. For `transcripts.masking` and the database field alone (a contract
    test says so).
    """
    return MaskedText(value, _KEY)


@dataclass(frozen=True, slots=True)
class MaskReceipt:
    """What masking did: the rule set's version, and hits by rule name."""

    rule_set: str
    hits: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MaskedRun:
    """A run whose every text is `MaskedText`, with the receipt of its masking.

    Made by `Masker.run` and by `transcripts.selectors.run_record`, which reads masked rows.
    """

    record: RunRecord
    receipt: MaskReceipt


def derived_text(value: str, source: MaskedRun) -> MaskedText:
    """Mark text that was made of nothing but `source`'s masked texts and the code's own words."""
    if not isinstance(source, MaskedRun):
        raise TypeError("derived text needs the masked run it is made of")
    return masked_text(value)
