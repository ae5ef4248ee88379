"""Inserts instances of models in bulk, of several tables in one statement.

The ORM makes its SQL anew for each insert of a run, which takes longer than the insert does. This
one is made once for each model and its rows go as one JSON value, read by the table's own types.
Masked columns ask for masked text, as the fields do.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from django.db import models

from transcripts.fields import MaskedJSONField, MaskedTextField, refuse_plain
from transcripts.services import rows


def rows_insert(*instances: models.Model, replacing: bool = False) -> None:
    """Insert instances whose own keys nobody needs. `replacing`: those with a key that is there
    take the place of the row.
    """
    found = _by_model(instances)
    if not found:
        return
    parts = ", ".join(
        f"part{index} AS ({_insert(model)}{_on_conflict(model) if replacing else ''})"
        for index, model in enumerate(found)
    )
    told = [rows.json_of([_row(each) for each in group]) for group in found.values()]
    rows.execute(f"WITH {parts} SELECT 1", told)


def row_insert(instance: models.Model) -> None:
    """Insert one instance, and tell it its key."""
    model = type(instance)
    sql = f"{_insert(model)} RETURNING {_key(model).column}"
    ((instance.pk,),) = rows.fetch(sql, [rows.json_of([_row(instance)])])
    instance._state.adding = False
    instance._state.db = "default"


def _by_model(instances: Iterable[models.Model]) -> dict[type[models.Model], list[models.Model]]:
    found: dict[type[models.Model], list[models.Model]] = {}
    for instance in instances:
        found.setdefault(type(instance), []).append(instance)
    return found


def _row(instance: models.Model) -> rows.Row:
    row: rows.Row = {}
    for name, column, is_masked, is_binary in _columns(type(instance)):
        value = getattr(instance, name)
        if is_masked:
            refuse_plain(value, name)
        row[column] = f"\\x{bytes(value).hex()}" if is_binary else value
    return row


@cache
def _columns(model: type[models.Model]) -> tuple[tuple[str, str, bool, bool], ...]:
    """Attribute, column, and whether the column is masked, and binary, of all that is inserted."""
    return tuple(
        (
            field.attname,
            str(field.column),
            isinstance(field, MaskedTextField | MaskedJSONField),
            isinstance(field, models.BinaryField),
        )
        for field in model._meta.concrete_fields
        if not isinstance(field, models.AutoField)
    )


@cache
def _insert(model: type[models.Model]) -> str:
    table = model._meta.db_table
    names = _names(column for _, column, *_ in _columns(model))
    return (
        f'INSERT INTO "{table}" ({names}) '
        f'SELECT {names} FROM json_populate_recordset(NULL::"{table}", %s::json)'
    )


@cache
def _on_conflict(model: type[models.Model]) -> str:
    key = _key(model)
    if isinstance(key, models.AutoField):
        return ""
    others = [column for _, column, *_ in _columns(model) if column != key.column]
    changes = ", ".join(f'"{column}" = EXCLUDED."{column}"' for column in others)
    return f' ON CONFLICT ("{key.column}") DO UPDATE SET {changes}'


def _key(model: type[models.Model]) -> models.Field[Any, Any]:
    key: models.Field[Any, Any] = model._meta.pk
    return key


def _names(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)
