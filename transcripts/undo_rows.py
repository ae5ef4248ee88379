"""Rows that people change, noted so that undoing finds them as they were left and puts them back.

For rows of a project's own settings, which are few and small. A change is a list of pairs, what a
row was and what it is; None where there was or is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import IntegrityError, models, transaction

from transcripts.maskers import typed_masker
from transcripts.masking import Masker
from transcripts.masking.types import MaskedText
from transcripts.models import Project
from transcripts.undo import UndoError

# A row as a change keeps it: its id under "pk", and its columns.
Told = dict[str, Any]
Pair = tuple[Told | None, Told | None]


@dataclass(frozen=True)
class Rows:
    """The rows of one model, which has a `project`. `name` says what one is, to begin a sentence
    with: "The rule badge".
    """

    model: type[models.Model]
    columns: tuple[str, ...]
    name: Callable[[Any], str]

    def told(self, row: models.Model | None) -> Told | None:
        """What is noted of a row as it stands. Texts that are not masked yet are masked."""
        if row is None:
            return None
        masker = typed_masker(row.project)  # type: ignore[attr-defined]
        values = {name: _kept(getattr(row, name), masker) for name in self.columns}
        return {"pk": row.pk, **values}

    def put_back(self, project: Project, pairs: Iterable[Pair]) -> list[models.Model]:
        """Let rows be as they were, and return those that are there then. Raises `UndoError` where
        one is not as it was left.
        """
        try:
            with transaction.atomic():
                rows = [self._put_back(project, before, after) for before, after in pairs]
        except IntegrityError:
            raise UndoError("Another one has taken its place since.") from None
        return [row for row in rows if row is not None]

    def _put_back(
        self, project: Project, before: Told | None, after: Told | None
    ) -> models.Model | None:
        told = before or after
        if told is None:
            return None
        found = self.model._default_manager.select_for_update(of=("self",))
        row = found.filter(project=project, pk=told["pk"]).first()
        if self.told(row) != after:
            if row is None:
                raise UndoError("It was removed since.")
            raise UndoError(f"{self.name(row)} was changed again since.")
        if before is None:
            assert row is not None  # it is what `after` tells of
            row.delete()
            return None
        row = row or self.model(pk=before["pk"], project=project)
        for name in self.columns:
            setattr(row, name, _value(self.model, name, before[name]))
        row.save()
        return row


def pairs_of(noted: Mapping[str, Any]) -> list[Pair]:
    """The pairs that a change was noted with."""
    return [(before, after) for before, after in noted["rows"]]


def _kept(value: Any, masker: Masker) -> Any:
    """A value as JSON without plain text: times in microseconds since 1970, bytes as numbers."""
    if isinstance(value, datetime):
        return round(value.timestamp() * 1_000_000)
    if isinstance(value, bytes | memoryview):
        return list(bytes(value))
    if isinstance(value, str):
        # Of what is masked already nothing changes.
        return value if isinstance(value, MaskedText) else masker.text(value)
    if isinstance(value, Mapping):
        return {name: _kept(child, masker) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(child, masker) for child in value]
    return value


def _value(model: type[models.Model], name: str, kept: Any) -> Any:
    field = model._meta.get_field(name)
    if kept is not None and isinstance(field, models.ForeignKey):
        there = field.related_model._base_manager.filter(pk=kept).exists()
        if not there and not field.null:
            raise UndoError("What it belonged to is gone.")
        return kept if there else None
    if kept is not None and isinstance(field, models.DateTimeField):
        return datetime.fromtimestamp(kept / 1_000_000, UTC)
    if kept is not None and isinstance(field, models.BinaryField):
        return bytes(kept)
    return kept
