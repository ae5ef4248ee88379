"""Counts several queries in one."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet


def counts_of(*querysets: QuerySet[Any]) -> list[int]:
    """How many rows each of the queries gives, none further than it is cut. One query, or none
    where Django knows that there are no rows.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    for rows in querysets:
        try:
            sql, values = rows.query.sql_with_params()
        except EmptyResultSet:
            parts.append("0")
        else:
            parts.append(f"(SELECT count(*) FROM ({sql}) AS counted)")
            parameters += values
    if all(part == "0" for part in parts):
        return [0] * len(parts)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", parameters)
        return list(cursor.fetchone())
