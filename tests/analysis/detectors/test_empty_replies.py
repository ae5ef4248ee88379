from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import Opaque, RunRecord, Stop

EMPTY = a_round(reply="  ")


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run(EMPTY), id="one"),
        pytest.param(a_run([call()], [call()]), id="requests without words"),
        pytest.param(a_run(*[a_round(opaque=(Opaque("image", "{}"),))] * 2), id="pictures"),
        pytest.param(a_run(*[a_round(stop=Stop.BLOCKED)] * 2), id="blocked"),
        pytest.param(
            a_run(EMPTY, a_round(stop=Stop.WANTS_TOOL), live=True), id="the last one may still grow"
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("empty_replies", run) == []


def test_flags_the_second_and_counts_on() -> None:
    (draft,) = drafts("empty_replies", a_run(EMPTY, [call()], EMPTY, EMPTY))

    assert (draft.at.round, draft.to_round, draft.values["times"]) == (3, 4, 3)
