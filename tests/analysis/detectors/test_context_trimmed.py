from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_round, a_run, call, reading_run
from transcripts.record import RunRecord

TEXTS = {
    key: ("assistant" if key[0] == "a" else "user", f"text of {key}")
    for key in ("u", "a1", "a2", "a3", "a4")
}
TEXTS |= {"s": ("system", "goal"), "helper": ("system", "report"), "order": ("user", "read")}


def with_tokens(*tokens: int | None, model: str = "m") -> RunRecord:
    return a_run(
        *(
            a_round(call("look", {"n": n}, f"r{n}"), tokens_in=t, model=model)
            for n, t in enumerate(tokens)
        )
    )


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(reading_run(["s", "u"], ["s", "u", "a1"], texts=TEXTS), id="all kept"),
        pytest.param(
            reading_run(["s", "u"], ["helper", "order"], ["s", "u", "a1"], texts=TEXTS),
            id="a sub-agent",
        ),
        pytest.param(
            reading_run(["s", "u", "a1"], ["helper", "u", "a1", "a2"], texts=TEXTS),
            id="other instructions, all else kept",
        ),
        pytest.param(
            reading_run(["s", "u", "a1"], ["helper", "u"], texts=TEXTS),
            id="another agent begins with the ticket",
        ),
        pytest.param(with_tokens(1000, 1200, 1300), id="tokens grow"),
        pytest.param(with_tokens(1000, 850), id="a fall of less than a fifth"),
        pytest.param(with_tokens(200, 90), id="a fall of a few words"),
        pytest.param(with_tokens(None, None), id="tokens unknown"),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("context_trimmed", run) == []


def test_says_how_many_messages_are_gone() -> None:
    run = reading_run(["s", "u", "a1", "a2"], ["s", "u", "a3"], texts=TEXTS)

    (draft,) = drafts("context_trimmed", run)

    assert (draft.at.round, draft.values["count"]) == (2, 2)
    assert draft.values["messages"] == ["a1", "a2"]


def test_one_finding_for_a_stretch_of_rounds_that_each_drop() -> None:
    run = reading_run(
        ["s", "u", "a1"], ["s", "u", "a2"], ["s", "u", "a3"], ["s", "u", "a3", "a4"], texts=TEXTS
    )

    (draft,) = drafts("context_trimmed", run)

    assert (draft.at.round, draft.to_round) == (2, 3)
    assert draft.why.startswith("From round 2 to 3, 2 earlier messages are missing from what")


def test_infers_it_from_tokens_where_inputs_are_not_logged() -> None:
    (draft,) = drafts("context_trimmed", with_tokens(1000, 2000, 1500))

    assert draft.at.round == 3
    assert "inferred" in draft.why


def test_another_model_counts_for_itself() -> None:
    big, small = with_tokens(5000), with_tokens(100, model="small")

    assert rounds("context_trimmed", a_run(big.rounds[0], small.rounds[0])) == []
