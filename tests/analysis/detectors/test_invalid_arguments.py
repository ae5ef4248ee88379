from __future__ import annotations

import pytest

from tests.analysis.detectors.finding import drafts, rounds
from tests.builders import a_run, call, tool
from transcripts.record import Message, RunRecord

SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "kind": {"enum": ["vpn", "mail"]}},
    "required": ["id"],
}
TOOLS = (tool("reset", SCHEMA),)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(a_run(), id="empty run"),
        pytest.param(a_run([call("reset", {"id": 7}, "ok")], tools=TOOLS), id="as the schema says"),
        pytest.param(a_run([call("reset", "", "ok")]), id="no arguments at all"),
        pytest.param(
            a_run([call("reset", '"{\\"id\\": 7}"', "ok")], tools=TOOLS), id="JSON in JSON"
        ),
        pytest.param(a_run([call("other", {"x": 1}, "ok")], tools=TOOLS), id="schema unknown"),
        pytest.param(a_run([call("grep", {"pattern": "<title>"}, "1")]), id="a tag"),
        pytest.param(
            a_run(
                [call("mail", {"to": "test@example.com"}, "sent")],
                messages=(Message("m", "user", "write to test@example.com"),),
            ),
            id="the ticket says so",
        ),
        pytest.param(
            a_run([call("reset", {"id": 7}, "ok")], tools=(tool("reset", {"$ref": "#/none"}),)),
            id="a schema that cannot be used",
        ),
    ],
)
def test_stays_silent(run: RunRecord) -> None:
    assert rounds("invalid_arguments", run) == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ('{"id": 7, "kind": "v', "are no JSON"),
        ({"kind": "vpn"}, "break its schema: id is missing"),
        ({"id": "seven"}, "break its schema"),
        ({"id": 7, "kind": "fax"}, "break its schema"),
    ],
)
def test_flags_what_the_tool_cannot_take(args: object, said: str) -> None:
    (draft,) = drafts(
        "invalid_arguments", a_run([call()], [call("reset", args, "ok")], tools=TOOLS)
    )

    assert draft.at.round == 2
    assert said in draft.why


@pytest.mark.parametrize(
    "value",
    [
        "<employee_id>",
        "your_api_key",
        "YOUR_ID_HERE",
        "{{ticket_id}}",
        "[insert name]",
        "user@example.com",
        "EMPLOYEE_ID",
        "the employee id",
        "__TOKEN__",
    ],
)
def test_flags_a_placeholder(value: str) -> None:
    assert rounds("invalid_arguments", a_run([call("reset", {"employee_id": value}, "ok")])) == [1]


def test_reports_the_same_call_once() -> None:
    same = call("reset", "{", "no")

    (draft,) = drafts("invalid_arguments", a_run([same], [same]))

    assert draft.values["times"] == 2


def test_a_schema_made_to_do_harm_costs_nothing() -> None:
    level = {"$ref": "#/$defs/a0"}
    definitions = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
        for n in range(40)
    }
    definitions["a40"] = {"type": "string", "pattern": "^(a+)+$"}
    hostile = tool("reset", {"properties": {"x": level}, "$defs": definitions})
    run = a_run([call("reset", {"x": "a" * 5_000}, "ok")], tools=(hostile,))

    assert rounds("invalid_arguments", run) == []
