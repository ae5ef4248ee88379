"""AutoGen 0.2 chats: agents in the role of users, and code that a reply holds."""

import copy
import json
from pathlib import Path

import pytest

from transcripts.importers import importer_for, read_runs
from transcripts.importers.providers.autogen_chat import RUNS_CODE
from transcripts.record import Stop

FILE = Path(__file__).parents[2] / "data/autogen_chat/group_chat.json"
CHAT = json.loads(FILE.read_bytes())


def read(messages):
    (run,) = read_runs(json.dumps(messages).encode(), default_run_id="r")
    return run


def test_every_agent_is_a_round_and_who_speaks_first_is_not():
    run = read(CHAT)

    assert run.format == "autogen_chat"
    assert [part.body for round_ in run.rounds for part in round_.opaque] == [
        *("planner", "coder", "coder", "coder", "planner", "coder"),
    ]
    assert run.messages[0].content == "My VPN drops."
    assert [round_.stop for round_ in run.rounds] == [
        *(Stop.FINISHED, Stop.WANTS_TOOL, Stop.WANTS_TOOL, Stop.WANTS_TOOL),
        *(Stop.FINISHED, Stop.FINISHED),
    ]


def test_code_that_was_run_is_a_call_of_the_reply_that_holds_it():
    run = read(CHAT)

    failed, worked = run.rounds[2].calls[0], run.rounds[3].calls[0]
    assert failed.name == worked.name == RUNS_CODE
    assert json.loads(failed.args)["code_blocks"] == [
        {"language": "python", "code": "reset(4417)\n"},
        {"language": "sh", "code": "ping vpn\n"},
    ]
    assert failed.result.startswith("exitcode: 1 (execution failed)")
    assert (failed.is_error, worked.is_error) == (True, False)
    assert not run.rounds[4].calls


def test_tool_calls_are_joined_by_id():
    (call,) = read(CHAT).rounds[1].calls

    assert (call.name, call.result, call.joined) == ("look_up", "accountant", "id")


def test_a_later_word_of_who_asked_is_no_round():
    run = read([*CHAT, {"role": "user", "name": "user_proxy", "content": "Thanks."}])

    assert len(run.rounds) == 6


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda message: message.pop("name"), id="no names"),
        pytest.param(lambda message: message.pop("tool_responses", None), id="no sign of AutoGen"),
    ],
)
def test_leaves_other_chats_to_others(change):
    chat = copy.deepcopy([m for m in CHAT if not str(m["content"]).startswith("exitcode")])
    for message in chat:
        change(message)

    assert importer_for(chat).name == "openai_chat"
