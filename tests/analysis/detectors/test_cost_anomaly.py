from __future__ import annotations

from decimal import Decimal

import pytest

from analysis.detectors.limits import Baseline, Limits
from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call
from transcripts.record import RunLimits, RunRecord

NORMAL = Baseline(20, cost_median=Decimal("6"))


def costing(*amounts: str, **fields: object) -> RunRecord:
    return a_run(
        *(a_round(call("look", {"n": n}, "x"), cost=Decimal(a)) for n, a in enumerate(amounts)),
        **fields,
    )


@pytest.mark.parametrize(
    ("run", "limits"),
    [
        pytest.param(a_run(), Limits(cost=Decimal(1)), id="empty run"),
        pytest.param(costing("5", "5"), Limits(), id="no limit"),
        pytest.param(costing("5", "5"), Limits(cost=Decimal(10)), id="at the cap"),
        pytest.param(costing("48"), Limits(baseline=NORMAL), id="8 times the median"),
        pytest.param(
            costing("99"), Limits(baseline=Baseline(19, cost_median=Decimal(6))), id="19 runs"
        ),
        pytest.param(a_run([call()]), Limits(cost=Decimal(1)), id="cost unknown"),
    ],
)
def test_stays_silent(run: RunRecord, limits: Limits) -> None:
    assert rounds("cost_anomaly", run, limits) == []


def test_points_at_the_round_that_passes_the_cap() -> None:
    run = costing("5", "5", "5", currency="INR", limits=RunLimits(cost=Decimal("9.50")))

    (draft,) = drafts("cost_anomaly", run)

    assert (draft.at.round, draft.to_round) == (2, 3)
    assert draft.why == "The run cost 15.00 INR, past 9.50 (as the run says)."


def test_far_more_than_normal_runs_cost() -> None:
    (draft,) = drafts("cost_anomaly", costing("420"), Limits(baseline=NORMAL))

    assert "8 times the median of 20 normal runs" in draft.why


def test_a_cost_computed_from_tokens_is_said_to_be() -> None:
    dear = a_round(call(), tokens_in=1_000_000, tokens_out=1000)

    (draft,) = drafts("cost_anomaly", a_run(dear, model="gpt-4o"), Limits(cost=Decimal("0.50")))

    assert draft.values["computed"] is True
    assert "USD, computed from tokens" in draft.why


def test_a_price_in_dollars_is_not_held_against_a_cap_in_another_currency() -> None:
    dear = a_round(call(), tokens_in=1_000_000)

    run = a_run(dear, model="gpt-4o", currency="INR")

    assert rounds("cost_anomaly", run, Limits(cost=Decimal("0.50"))) == []
