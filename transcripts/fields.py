"""Columns that take masked content alone."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from django.db import models

from transcripts.masking.types import MaskedText, masked_text

if TYPE_CHECKING:
    TextField = models.TextField[Any, Any]
else:
    TextField = models.TextField


class MaskedTextField(TextField):
    """Text that masking made. Saving a plain string is a `TypeError`; reading gives `MaskedText`.

    The empty string holds no secret and is taken as it is. Look-ups take any string.
    """

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        refuse_plain(value, self.name)
        return super().get_db_prep_save(value, connection)

    def from_db_value(self, value: str | None, *_args: Any) -> MaskedText | None:
        return None if value is None else masked_text(value)


class MaskedJSONField(models.JSONField):
    """JSON whose every string is masked. Keys are the code's own words, so they are not asked."""

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        refuse_plain(value, self.name)
        return super().get_db_prep_save(value, connection)

    def from_db_value(self, value: Any, *args: Any) -> Any:
        return _marked(super().from_db_value(value, *args))


def refuse_plain(value: Any, where: str) -> None:
    """Raise `TypeError` if a string anywhere in `value` is not masked."""
    if isinstance(value, str):
        # A member of a closed set is the code's own word.
        if value and not isinstance(value, MaskedText | Enum):
            raise TypeError(f"{where}: plain text where masked text is stored")
    elif isinstance(value, dict):
        for child in value.values():
            refuse_plain(child, where)
    elif isinstance(value, (list, tuple)):
        for child in value:
            refuse_plain(child, where)


def _marked(value: Any) -> Any:
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, dict):
        return {key: _marked(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_marked(child) for child in value]
    return value
