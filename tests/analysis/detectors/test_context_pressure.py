from __future__ import annotations

import pytest

from analysis.detectors.limits import Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunRecord


def reading(*tokens: int | None, **fields: object) -> RunRecord:
    return a_run(
        *(a_round(call("look", {"n": n}, "x"), tokens_in=t) for n, t in enumerate(tokens)), **fields
    )


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(reading(500, 800, context_window=1000), id="at 80%"),
        pytest.param(reading(5000), id="window unknown"),
        pytest.param(reading(None, context_window=1000), id="tokens unknown"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("context_pressure", run) == []


def test_a_lead_past_80_percent_and_a_breach_past_the_window() -> None:
    found = drafts("context_pressure", reading(500, 801, 900, 1001, 1100, context_window=1000))

    assert [(draft.at.round, draft.severity) for draft in found] == [(2, "lead"), (4, "breach")]


def test_the_window_may_come_from_the_settings() -> None:
    (draft,) = drafts("context_pressure", reading(900), Limits(context_window=1000))

    assert "the settings" in draft.why


def test_the_window_may_come_from_the_price_list() -> None:
    run = reading(7_000, model="gpt-4", provider="openai")

    (draft,) = drafts("context_pressure", run)

    assert draft.values["source"] == "the price list"
    assert draft.values["window"] == 8192


def test_a_request_refused_for_its_length_is_a_breach() -> None:
    refused = a_round(error="This model's maximum context length is 8192 tokens")

    (draft,) = drafts("context_pressure", a_run([call()], refused))

    assert (draft.at.round, draft.severity) == (2, "breach")
