"""Native export: what is written is read as the same record."""

import json

from hypothesis import HealthCheck, given, settings

from tests import strategies
from transcripts.export import all_exporters
from transcripts.export.native import native_run, native_text
from transcripts.importers import read_runs
from transcripts.record import Call, Round, RunRecord, Stop


@given(strategies.runs())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_native_text_is_read_as_the_same_record(run):
    (read,) = read_runs(native_text(run).encode())

    assert read == run


@given(strategies.runs())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_writing_what_was_read_gives_the_same_text(run):
    (read,) = read_runs(native_text(run).encode())

    assert native_text(read) == native_text(run)


def test_arguments_are_an_object_where_that_loses_nothing():
    exact, spaced, broken = '{"a":1.10}', '{"a": 1}', '{"a":'
    calls = tuple(Call("t", args) for args in (exact, spaced, broken))
    run = RunRecord("r", rounds=(Round(1, Stop.WANTS_TOOL, calls=calls),))

    written = [call["args"] for call in native_run(run)["rounds"][0]["calls"]]

    assert [type(args) for args in written] == [dict, str, str]
    assert json.loads(native_text(run))["format"] == "agentdesk.run/1"


def test_the_exporter_is_found_by_folder():
    assert "native" in [exporter.name for exporter in all_exporters()]
