"""Damaged files: whatever is wrong in one place, the rest of the program gets a run or a problem.

Every value of every test file is replaced, one at a time, by values of other kinds, and left out.
"""

import copy
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from tests.strategies import json_values
from transcripts.importers import (
    ImportProblem,
    UnreadableError,
    all_importers,
    read_runs,
)
from transcripts.importers.fields import MAX_COUNT
from transcripts.record import RunRecord

DATA = Path(__file__).parents[2] / "data"
FORMATS = {importer.name for importer in all_importers()}
FILES = sorted(path for path in DATA.glob("*/*.json*") if path.parent.name in FORMATS)
OTHERS = [None, True, -1, 1.5, 10**30, "", "x", [], {}, [None], {"x": []}, [[]], [{}], "\u202e{{"]
# Replaced values a file, spread over it: all of them for the files here, were they not so many.
MAX_PLACES = 120


def load(path):
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return json.loads(path.read_bytes())


def dump(path, value):
    if path.suffix == ".jsonl":
        return "\n".join(json.dumps(line) for line in value).encode()
    return json.dumps(value).encode()


def places(value, at=()):
    yield at
    if isinstance(value, dict):
        children = value.items()
    else:
        children = enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*at, key))


def replaced(value, at, other):
    changed = copy.deepcopy(value)
    parent = changed
    for key in at[:-1]:
        parent = parent[key]
    if other is ...:
        del parent[at[-1]]
    else:
        parent[at[-1]] = other
    return changed


def check(content):
    """Read it all; what comes must be storable."""
    try:
        found = list(read_runs(content, default_run_id="r"))
    except UnreadableError:
        return
    for entry in found:
        if isinstance(entry, ImportProblem):
            assert entry.error
            continue
        check_storable(entry)


def check_storable(run):
    assert isinstance(run, RunRecord)
    text = msgspec.json.encode(run).decode()
    assert "\\u0000" not in text.replace("\\\\", "")
    assert isinstance(run.run_id, str)
    assert run.run_id
    numbers = [round_.number for round_ in run.rounds]
    assert numbers == sorted(set(numbers))
    for round_ in run.rounds:
        for count in (round_.tokens_in, round_.tokens_out, round_.tokens_cached):
            assert count is None or 0 <= count <= MAX_COUNT
        assert all(isinstance(call.args, str) for call in round_.calls)
        assert all(isinstance(call.result, str | None) for call in round_.calls)
    for _, keys in run.inputs():
        assert set(keys or ()) <= run.message_by_key.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_one_wrong_value_breaks_nothing(path):
    value = load(path)
    found = [at for at in places(value) if at]
    step = max(1, len(found) // MAX_PLACES)
    for number, at in enumerate(found[::step]):
        others = OTHERS[number % 3 :: 3]
        for other in (*others, ...):
            check(dump(path, replaced(value, at, other)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_that_breaks_off_breaks_nothing(path):
    content = path.read_bytes()
    for end in range(1, len(content), max(1, len(content) // 40)):
        check(content[:end])


@given(json_values)
@settings(max_examples=200, deadline=None)
def test_any_json_is_read_or_refused(value):
    check(json.dumps(value).encode())
