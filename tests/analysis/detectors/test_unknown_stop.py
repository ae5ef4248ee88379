from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunRecord, Stop


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call()], "Done."), id="known"),
        pytest.param(a_run(a_round(stop=Stop.UNKNOWN)), id="no label at all"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("unknown_stop", run) == []


def test_one_finding_for_each_label_with_its_rounds() -> None:
    first, second = (
        a_round(reply="x", stop=Stop.UNKNOWN, stop_raw=raw) for raw in ("eos2", "halt")
    )

    found = drafts("unknown_stop", a_run(first, second, first))

    assert [(draft.at.round, draft.values["label"], draft.values["rounds"]) for draft in found] == [
        (1, "eos2", 2),
        (2, "halt", 1),
    ]
