from __future__ import annotations

from hypothesis import given, settings

from tests.strategies import runs
from transcripts.masking.records import each_text, mapped


@settings(deadline=None)
@given(runs())
def test_each_text_calls_what_mapped_calls(run):
    looked, changed = [], []

    def noting(calls: list, name: str):
        return lambda value: calls.append((name, value)) or value

    each_text(run, noting(looked, "text"), noting(looked, "json"))
    mapped(run, noting(changed, "text"), noting(changed, "json"))

    assert looked == changed
