from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call, tool
from transcripts.record import RunRecord

OFFERED = (tool("find_user"), tool("reset_profile"))


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call("find_user", {}, "Anna")], tools=OFFERED), id="offered"),
        pytest.param(a_run([call("get_user", {}, "Anna")]), id="offer unknown"),
        pytest.param(
            a_run([call("functions.find_user", {}, "Error: x")], tools=OFFERED), id="prefixed"
        ),
        pytest.param(
            a_run([call("get_user", {}, "Anna")], tools=OFFERED), id="it works all the same"
        ),
        pytest.param(a_run([call("get_user", {}, "Error: user not found")]), id="another error"),
        pytest.param(
            a_run([call("pay", {}, "Error: payment method card_1 not found")]),
            id="a payment method",
        ),
        pytest.param(
            a_run(
                [
                    call(
                        "read_file",
                        {},
                        "# Tools\n\nThe server answers with an unknown tool error. " * 9,
                    )
                ]
            ),
            id="a document on tools",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("unknown_tool", run) == []


def test_flags_a_name_that_was_not_offered() -> None:
    run = a_run(
        [call()], [call("get_user", {}, "", is_error=True)], tools=(*OFFERED, tool("get_employee"))
    )

    (draft,) = drafts("unknown_tool", run)

    assert draft.at.round == 2
    assert (
        draft.why == "The model asked for get_user, which is not among the 3 tools offered to it."
    )


@pytest.mark.parametrize(
    "said",
    [
        "MCP error -32602: Unknown tool: get_user",
        "No tool called get_user is available.",
        "Tool get_user not found",
        "get_user is not a valid tool, try one of [find_user].",
    ],
)
def test_flags_an_answer_that_says_so(said: str) -> None:
    assert rounds("unknown_tool", a_run([call("get_user", {}, said)])) == [1]


def test_a_tool_for_documents_can_be_unknown_too() -> None:
    said = "There is no function named browse_everywhere."

    assert rounds("unknown_tool", a_run([call("browse_everywhere", {"id": 7}, said)])) == [1]


def test_reports_the_same_call_once() -> None:
    same = call("get_user", {}, "Error: unknown tool")

    assert rounds("unknown_tool", a_run([same], [same])) == [1]
