"""Rows that people removed and can bring back for a day."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class ThereManager(models.Manager[Row]):
    """Of a model with `removed_at`, the rows that nobody removed."""

    def get_queryset(self) -> models.QuerySet[Row]:
        rows: Any = super().get_queryset().filter(removed_at=None)
        return rows  # type: ignore[no-any-return]
