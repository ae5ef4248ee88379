"""Secrets in tables: cells under a head that names a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from transcripts.masking import names
from transcripts.masking.names import Strength
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.values import is_secret

TABLE_ROW: Final = re.compile(r"(?m)^[ \t]*\|(.*)\|[ \t]*$")
SENSITIVE_CELL: Final = re.compile(
    r"(?i)pass|pwd|kennwort|contrase|wachtwoord|senha|mdp|secret|token|key|\bpin\b|\bpw\b"
)
# The head of a list of values by column, and what may stand in it.
COLUMN_HEAD: Final = re.compile(
    r"(?im)^[ \t]*((?:[a-z][\w -]{0,30}[,;\t]){0,20}(?:[a-z][\w -]{0,20})?"
    r"(?:pass|pwd|kennwort|contrase|wachtwoord|senha|secret|token|key|pin)[\w -]{0,20}"
    r"(?:[,;\t][a-z][\w -]{0,30}){0,20})[ \t]*\r?$"
)
DELIMITERS: Final = ",;\t"


def table_hits(text: str) -> Iterator[Hit]:
    """Cells of a Markdown table under a head that names a secret."""
    columns: dict[int, str] = {}
    width = last_end = 0
    for row in TABLE_ROW.finditer(text):
        cells = row.group(1).split("|")
        if row.start() > last_end + 2 or len(cells) != width:
            columns = {
                index: cell.strip()
                for index, cell in enumerate(cells)
                if SENSITIVE_CELL.search(cell) and names.strength(cell.strip())
            }
            width, last_end = len(cells), row.end()
            continue
        last_end = row.end()
        at = row.start(1)
        for index, cell in enumerate(cells):
            value = cell.strip()
            if index in columns and is_secret(
                value, names.strength(columns[index]), quoted=True, numeric_ok=True
            ):
                start = at + cell.index(value)
                family = names.family_of(columns[index])
                yield Hit(start, start + len(value), "table-cell", family, Rank.CONTEXT)
            at += len(cell) + 1


def column_hits(text: str) -> Iterator[Hit]:
    """Cells of lines with commas, semicolons or tabs under such a head."""
    for head in COLUMN_HEAD.finditer(text):
        delimiter = next((sign for sign in DELIMITERS if sign in head.group(1)), "")
        if not delimiter:
            continue
        cells = head.group(1).split(delimiter)
        columns = {
            index: cell.strip()
            for index, cell in enumerate(cells)
            if names.strength(cell.strip()) == Strength.STRONG and len(cell.split()) <= 2
        }
        at = head.end() + 1
        while columns and at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            row = text[at:end].split(delimiter)
            if len(row) != len(cells):
                break
            yield from _row_hits(row, at, columns)
            at = end + 1


def _row_hits(row: list[str], at: int, columns: dict[int, str]) -> Iterator[Hit]:
    for index, cell in enumerate(row):
        value = cell.strip().strip("\"'")
        if index in columns and is_secret(value, Strength.STRONG, quoted=False, numeric_ok=True):
            start = at + cell.index(value)
            family = names.family_of(columns[index])
            yield Hit(start, start + len(value), "column", family, Rank.CONTEXT)
        at += len(cell) + 1
