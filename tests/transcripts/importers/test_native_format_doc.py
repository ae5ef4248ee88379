"""`docs/native-format.md` says what is so."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from transcripts.importers import native_types, read_runs
from transcripts.record import Ending, RunRecord, Stop

TEXT = (Path(__file__).parents[3] / "docs/native-format.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json(?:l?)\n(.*?)```", TEXT, re.DOTALL)
TABLES = {
    "A run": native_types.NativeRun,
    "A round": native_types.NativeRound,
    "A call": native_types.NativeCall,
}


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_its_examples_are_read(example):
    (run,) = read_runs(example.encode())

    assert isinstance(run, RunRecord)
    assert len(run.rounds) == 2
    assert run.notes == ()


def test_both_ways_to_say_the_input_say_the_same():
    whole, changes = (next(read_runs(EXAMPLES[index].encode())) for index in (1, 2))

    def last_input(run):
        *_, (_, keys) = run.inputs()
        return list(keys)

    assert last_input(whole) == last_input(changes) == ["reply:1", "result:1:0"]


@pytest.mark.parametrize("heading", TABLES)
def test_its_tables_name_every_field_and_no_other(heading):
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    named = {
        field
        for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
        for field in re.findall(r"`(\w+)`", row)
    }

    assert named == {field.name for field in msgspec.structs.fields(TABLES[heading])}


def test_it_names_every_ending_and_stop_reason():
    assert all(f"`{word.value}`" in TEXT for word in (*Ending, *Stop))


def test_its_first_example_has_no_more_than_it_needs():
    assert json.loads(EXAMPLES[0]).keys() == {"run_id", "rounds"}
