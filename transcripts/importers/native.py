"""The native format `agentdesk.run/1`, and the minimal log, which is a part of it.

A file is one run, a list of runs, or `{"runs": […]}`; in JSONL each line is a run, or a line with
the run's fields is followed by lines of rounds, or there are lines of rounds alone. See
`docs/native-format.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from transcripts.importers.base import Document, Importer, ImportProblem, Read
from transcripts.importers.fields import (
    FieldError,
    as_text,
)
from transcripts.importers.native_run import field_error, read_run, to_type
from transcripts.importers.native_types import (
    FORMAT,
    NativeRound,
    NativeRun,
)

_RUN_FIELDS = frozenset(NativeRun.__struct_fields__)
# A round of a minimal log has one of these beside its number.
_ROUND_MARKS = frozenset({"stop", "stop_raw", "calls", "reply"})


def recognise(value: Any) -> bool:
    """Whether a document is a run, a list of runs, the fields of a run, or a round of the native
    format.
    """
    if isinstance(value, list):
        return bool(value) and all(_is_run(entry) for entry in value)
    if not isinstance(value, dict):
        return False
    runs = value.get("runs")
    if isinstance(runs, list) and value.keys() <= {"format", "runs"}:
        return all(isinstance(run, dict) for run in runs)
    return _is_run(value) or _is_header(value) or _is_round(value)


def read(documents: Iterator[Document], default_run_id: str) -> Iterator[Read]:
    """Runs in the order of the file; rounds of their own lines are collected by run until the file
    ends.
    """
    collected = _Collected(default_run_id)
    count = 0
    for document in documents:
        value = document.value
        if _is_round(value):
            yield from collected.add_round(value, document.line)
        elif _is_header(value):
            yield from collected.add_header(value, document.line)
        elif recognise(value):
            entries = [("$", value)]
            if isinstance(value, list):
                entries = [(f"$[{i}]", run) for i, run in enumerate(value)]
            elif "runs" in value:
                entries = [(f"$.runs[{i}]", run) for i, run in enumerate(value["runs"])]
            for path, entry in entries:
                count += 1
                name = default_run_id if count == 1 else f"{default_run_id}-{count}"
                yield _read_or_problem(entry, name, path, document.line)
        else:
            yield ImportProblem("this is neither a run nor a round", document.line)
    yield from collected.finish()


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("rounds"), list):
        return False
    if value.get("format", FORMAT) != FORMAT:
        return False
    return value.get("format") == FORMAT or all(
        isinstance(round_, dict) and not {"request", "response"} & round_.keys()
        for round_ in value["rounds"][:20]
    )


def _is_header(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "rounds" not in value
        and "round" not in value
        and "messages" not in value
        and value.get("format", FORMAT) == FORMAT
        and ("run_id" in value or "format" in value)
        and value.keys() <= _RUN_FIELDS
    )


def _is_round(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "round" in value
        and bool(_ROUND_MARKS & value.keys())
        and not {"request", "response", "rounds"} & value.keys()
    )


def _read_or_problem(value: Any, default_run_id: str, path: str, line: int | None) -> Read:
    try:
        return read_run(value, default_run_id, path)
    except FieldError as error:
        return ImportProblem(error.error, line, error.run_id, error.field)


class _Collected:
    """Rounds that come one a line, by run; runs are given out when the file ends."""

    def __init__(self, default_run_id: str) -> None:
        self._default = default_run_id
        self._current = ""
        self._runs: dict[str, dict[str, Any]] = {}
        self._lines: dict[str, list[int | None]] = {}

    def add_header(self, value: dict[str, Any], line: int | None) -> Iterator[Read]:
        try:
            run = to_type(value, NativeRun)
        except FieldError as error:
            yield ImportProblem(error.error, line, as_text(value.get("run_id")), error.field)
            return
        self._current = run.run_id or self._default
        if self._current in self._runs:
            yield ImportProblem("the fields of this run come twice", line, self._current)
            return
        self._runs[self._current] = {**value, "rounds": []}
        self._lines[self._current] = []

    def add_round(self, value: dict[str, Any], line: int | None) -> Iterator[Read]:
        run_id = value.get("run_id", self._current or self._default)
        if not isinstance(run_id, str):
            yield ImportProblem("expected a string", line, field="$.run_id")
            return
        try:
            to_type(value, NativeRound)
        except FieldError as error:
            yield ImportProblem(error.error, line, run_id, error.field)
            return
        run = self._runs.setdefault(run_id, {"run_id": run_id, "rounds": []})
        run["rounds"].append({key: v for key, v in value.items() if key != "run_id"})
        self._lines.setdefault(run_id, []).append(line)

    def finish(self) -> Iterator[Read]:
        for run_id, value in self._runs.items():
            try:
                yield read_run(value, run_id)
            except FieldError as error:
                found = re.match(r"\$\.rounds\[(\d+)\]", error.field)
                line = self._lines[run_id][int(found[1])] if found else None
                field = "$" + error.field.removeprefix(found[0]) if found else error.field
                yield ImportProblem(error.error, line, run_id, field)


IMPORTER = Importer(
    name="native",
    title="Agentdesk's native format",
    recognise=recognise,
    read=read,
    priority=50,
    one_by_one=True,
)
__all__ = ["IMPORTER", "field_error", "read_run", "to_type"]
