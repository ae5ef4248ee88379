"""What is special about the formats of tools and frameworks, beyond the conversation they share."""

import copy
import io
import json
import struct
import zipfile
from pathlib import Path

import pytest
import zstandard

from transcripts.importers import ImportProblem, UnreadableError, importer_for, read_runs
from transcripts.importers.openai_agents import NO_MESSAGES
from transcripts.record import Ending, InputChange, RunLimits, Stop, completeness

DATA = Path(__file__).parents[2] / "data"


def read(name):
    return list(read_runs((DATA / name).read_bytes(), default_run_id="r"))


def read_value(value):
    return list(read_runs(json.dumps(value).encode(), default_run_id="r"))


def load(name):
    return json.loads((DATA / name).read_bytes())


def texts(run):
    return [
        [run.message_by_key[key].content or key for key in list(keys)] for _, keys in run.inputs()
    ]


def test_claude_code_leaves_a_branch_and_joins_parallel_results():
    (run,) = read("claude_code/two_tools.jsonl")

    assert run.run_id == "s-1"
    assert "Messages of branches that were left, not shown: 1." in run.notes
    assert "Lines that are no messages: file-history-snapshot 1, progress 1." in run.notes
    assert run.rounds[0].calls[0].duration_ms == 40
    assert run.rounds[0].calls[0].sub_run == "s-1/sub-1"


def test_claude_code_counts_the_usage_of_a_reply_once():
    (run,) = read("claude_code/two_tools.jsonl")

    assert sum(round_.tokens_in for round_ in run.rounds) == 40


def test_claude_code_reads_only_the_summary_after_a_compaction():
    (run,) = read("claude_code/compacted.jsonl")

    assert texts(run) == [["My VPN drops."], ["Summary of before."]]


def test_claude_code_sub_agents_are_runs_of_their_own():
    (run,) = read("claude_code/sub_agent.jsonl")
    together = (DATA / "claude_code/two_tools.jsonl").read_bytes() + (
        DATA / "claude_code/sub_agent.jsonl"
    ).read_bytes()
    runs = list(read_runs(together))

    assert (run.run_id, run.parent_run_id) == ("s-1/a1", "s-1")
    assert [r.run_id for r in runs] == ["s-1", "s-1/a1"]
    assert [len(r.rounds) for r in runs] == [2, 1]


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        ({"subtype": "success", "is_error": False}, Ending.FINISHED),
        ({"subtype": "success", "is_error": True}, Ending.ERROR),
        ({"subtype": "error_max_turns", "is_error": True}, Ending.ROUND_LIMIT),
        ({"subtype": "error_max_budget_usd", "is_error": True}, Ending.STOPPED),
        ({"subtype": "error_during_execution", "is_error": True}, Ending.ERROR),
        ({"subtype": "brand_new", "is_error": False}, Ending.STOPPED),
    ],
)
def test_claude_stream_ends_as_its_result_says(result, ending):
    lines = (DATA / "claude_stream/two_tools.jsonl").read_text().splitlines()
    last = {**json.loads(lines[-1]), **result}

    (run,) = read_runs("\n".join([*lines[:-1], json.dumps(last)]).encode())

    assert run.ending == ending
    assert (run.context_window, run.labels["total_cost_usd"]) == (200_000, "0.012")


def test_claude_stream_sub_agents_are_runs_of_their_own():
    lines = (DATA / "claude_stream/two_tools.jsonl").read_text().splitlines()
    inner = {**json.loads(lines[6]), "uuid": "x", "parent_tool_use_id": "c1"}

    main, sub = read_runs("\n".join([*lines, json.dumps(inner)]).encode())

    assert (sub.run_id, sub.parent_run_id, len(sub.rounds)) == ("s-1/c1", main.run_id, 1)


def test_codex_takes_messages_from_items_alone():
    (run,) = read("codex/two_tools.jsonl")

    assert (run.run_id, run.code_version, run.context_window) == ("r-1", "0.144.1", 272_000)
    assert [m.content for m in run.messages if m.content] == [
        "Help people with their VPN.",
        "My VPN drops.",
    ]


def test_atif_compaction_and_sub_agents():
    parent, child = read("atif/compaction_and_sub_agent.json")

    assert texts(parent) == [["My VPN drops."], ["Summary."]]
    assert parent.rounds[0].calls[0].sub_run == "child"
    assert (child.run_id, child.parent_run_id) == ("child", "s1")
    assert [round_.reply for round_ in child.rounds] == ["New."]


def test_atif_one_result_answers_all_calls_of_its_step():
    (run,) = read("atif/one_result_for_two_calls.json")

    assert [call.result for call in run.rounds[0].calls] == ["$ ls", "$ ls"]


def test_swe_agent_actions_in_text_are_calls_by_their_first_word():
    (run,) = read("swe_agent/text_actions.json")

    assert [(c.name, c.args, c.result) for r in run.rounds for c in r.calls] == [
        ("look_up", '{"command":"look_up 4417"}', "accountant"),
        ("submit", '{"command":"submit"}', ""),
        ("exit_cost", '{"command":"exit_cost"}', "Exit"),
    ]
    assert run.rounds[0].calls[0].duration_ms == 400
    assert (run.ending, run.ending_reason) == (Ending.STOPPED, "submitted (exit_cost)")


def test_swe_agent_demonstrations_are_no_rounds():
    (run,) = read("swe_agent/text_actions.json")

    assert texts(run)[0] == [
        "Help people with their VPN.",
        "A demonstration",
        "A demonstrated reply",
        "My VPN drops.",
    ]


def test_mini_swe_agent_reads_version_1():
    (run,) = read("mini_swe_agent/version_1.json")

    assert [(c.name, c.args, c.is_error) for r in run.rounds for c in r.calls] == [
        ("bash", '{"command":"look_up 4417"}', True),
        ("bash", '{"command":"echo DONE"}', False),
    ]


def test_mini_swe_agent_ends_with_its_own_words():
    """Version 1 files have no exit status: the last command says that the agent is done."""
    submit = "```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"
    messages = [
        {"role": "system", "content": "Solve it."},
        {"role": "user", "content": "The task."},
        {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>a</output>"},
    ]

    (going,) = read_runs(json.dumps(messages).encode())
    (done,) = read_runs(json.dumps([*messages, {"role": "assistant", "content": submit}]).encode())

    assert going.ending is None
    assert done.ending == Ending.FINISHED


def test_openhands_reads_flat_events_and_the_limit_of_iterations():
    (run,) = read("openhands/iteration_limit.json")

    assert (run.run_id, run.ending, run.limits) == ("i-1", Ending.ROUND_LIMIT, RunLimits(rounds=50))
    assert run.rounds[0].calls[0].result == "a b"
    assert run.rounds[0].calls[0].args == '{"command":"ls"}'


def test_openhands_a_finish_ends_the_run():
    value = load("openhands/two_tools.json")[:-1]
    value.append({"id": 6, "source": "agent", "action": "finish", "args": {"outputs": {}}})

    assert read_value(value)[0].ending == Ending.FINISHED


def test_tau_bench_names_each_trial():
    value = load("tau_bench/two_tools.json")
    value.append({**value[0], "trial": 2})
    failed = {**value[0], "info": {"error": "timed out", "traceback": "…"}, "traj": []}

    first, second = read_value(value)
    (broken,) = read_value([failed])

    assert (first.run_id, second.run_id) == ("r/3.1", "r/3.2")
    assert first.labels["reward"] == "0.0"
    assert (broken.ending, broken.ending_reason) == (Ending.ERROR, "timed out")


def test_tau2_leaves_the_tools_of_the_simulated_user_to_the_user():
    value = load("tau_bench/two_tools_tau2.json")
    messages = value["simulations"][0]["messages"]
    asks = {"role": "user", "content": None, "tool_calls": [{"id": "u1", "name": "look"}]}
    messages[5:5] = [asks, {"role": "tool", "id": "u1", "content": "dark", "requestor": "user"}]

    (run,) = read_value(value)

    assert completeness(run).orphan_results == 0
    assert "dark" in texts(run)[1]


def test_tau2_stops_at_its_limit():
    value = load("tau_bench/two_tools_tau2.json")
    value["simulations"][0]["termination_reason"] = "max_steps"

    assert read_value(value)[0].ending == Ending.ROUND_LIMIT


def test_toolbench_reads_the_chain_that_gave_the_answer():
    (run,) = read("toolbench/answer.json")

    assert [(c.name, c.joined) for r in run.rounds for c in r.calls] == [
        ("look_up", "name"),
        ("Finish", ""),
    ]
    assert (run.format, run.title, run.ending) == ("toolbench", "My VPN drops.", Ending.FINISHED)
    assert "Shorter chains of the same search, not shown: 1." in run.notes


def test_toolbench_reads_the_last_path_where_no_chain_gave_an_answer():
    (run,) = read("toolbench/no_chain.json")

    (call,) = run.rounds[0].calls
    assert (run.rounds[0].reply, call.name, call.is_error) == ("Looking.", "look_up", True)
    assert run.ending == Ending.STOPPED


def test_langfuse_updates_an_observation_and_takes_a_span_below_a_generation_as_its_tool():
    (run,) = read("langfuse/batch.json")

    assert (run.run_id, run.agent, run.rounds[0].tokens_in) == ("t1", "agent", 20)
    assert [call.result for call in run.rounds[0].calls] == ["accountant", None]
    assert run.rounds[0].calls[0].is_error is False


def test_langfuse_counts_a_request_around_a_request_once():
    value = load("langfuse/two_tools.json")
    inner = value["observations"][1]
    value["observations"].append({**inner, "id": "o9", "parentObservationId": "o1"})

    (run,) = read_value(value)

    assert len(run.rounds) == 2
    assert run.rounds[0].tokens_in == 20


def test_langfuse_pages_and_lines_of_one_trace_are_one_run():
    value = load("langfuse/two_tools.json")
    lines = "\n".join(json.dumps(observation) for observation in value["observations"])

    (run,) = read_runs(lines.encode())

    assert (run.run_id, len(run.rounds)) == ("t1", 2)


def test_spans_may_come_in_any_order_and_with_clocks_that_go_backwards():
    value = load("phoenix/two_tools.json")
    value["data"].reverse()
    value["data"][0]["end_time"] = "2020-01-01T00:00:00+00:00"

    (run,) = read_value(value)

    assert [round_.reply for round_ in run.rounds] == ["Looking.", "I cannot reset it."]
    assert run.rounds[1].duration_ms is None


def test_a_cycle_of_parents_ends():
    value = load("phoenix/two_tools.json")
    one, two = value["data"][1], value["data"][4]
    one["parent_id"], two["parent_id"] = two["context"]["span_id"], one["context"]["span_id"]

    (run,) = read_value(value)

    assert run.format == "phoenix"


def test_phoenix_says_why_a_tool_failed():
    value = load("phoenix/two_tools.json")
    value["data"][3]["status_message"] = ""
    event = {"name": "exception", "attributes": {"exception.message": "boom"}}
    value["data"][3]["events"] = [event]

    call = read_value(value)[0].rounds[0].calls[1]

    assert (call.is_error, call.result) == (True, "boom")


def test_langsmith_reads_nested_child_runs():
    value = load("langsmith/two_tools.json")
    root = {**value[0], "child_runs": value[1:]}

    (run,) = read_value(root)

    assert (run.run_id, len(run.rounds), run.rounds[0].calls[1].is_error) == ("r0", 2, True)


def test_openai_agents_shows_turns_and_tools_and_says_what_is_missing():
    (run,) = read("openai_agents/trace.json")

    assert (run.format, run.agent, run.labels["workflow_name"]) == (
        "openai_agents",
        "Helpdesk",
        "VPN",
    )
    assert [(c.name, c.result, c.is_error) for c in run.rounds[0].calls] == [
        ("look_up", "accountant", False),
        ("reset", "An error occurred.", True),
    ]
    assert [round_.tokens_in for round_ in run.rounds] == [20, 40]
    assert NO_MESSAGES in run.notes


def test_crewai_takes_actions_and_observations_out_of_the_text():
    (run,) = read("crewai/output.json")

    assert [round_.reply.partition("\n")[0] for round_ in run.rounds] == [
        "Thought: look",
        "Thought: reset",
        "I cannot reset it.",
    ]
    assert [(c.name, c.result, c.is_error) for r in run.rounds for c in r.calls] == [
        ("look_up", "accountant", False),
        ("reset", "no permission", True),
    ]


def test_crewai_puts_events_together():
    (run,) = read("crewai/events.jsonl")

    first, last = run.rounds
    assert (run.format, run.agent, first.stop_raw) == ("crewai", "Helpdesk", "tool_calls")
    assert [(c.name, c.result, c.is_error) for c in first.calls] == [
        ("look_up", "accountant", False),
        ("reset", "no permission", True),
    ]
    assert (last.reply, last.stop, last.tokens_in) == ("I cannot reset it.", Stop.FINISHED, 40)


def an_eval(log, *, method=zipfile.ZIP_DEFLATED, header="header.json"):
    """An Inspect log as its zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(header, json.dumps({k: v for k, v in log.items() if k != "samples"}))
        for sample in log["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return packed.getvalue()


def with_zstd(member, content):
    """A zip file of one member by method 93, which Python's own module cannot write."""
    packed = zstandard.compress(content)
    name = member.encode()
    common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 0, 0, len(packed), len(content), len(name), 0)
    local = b"PK\x03\x04" + common + name + packed
    central = b"PK\x01\x02" + b"\x14\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    ends = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + ends


@pytest.mark.parametrize("header", ["header.json", "_journal/start.json"])
def test_inspect_reads_an_eval_file_and_one_that_was_cut_off(header):
    (run,) = read_runs(an_eval(load("inspect_ai/two_tools.json"), header=header))

    assert (run.format, run.run_id, len(run.rounds)) == ("inspect_ai", "run1/1.1", 2)
    assert run.labels["score includes"] == "I"


def test_inspect_reads_members_by_zstandard():
    log = json.dumps(load("inspect_ai/two_tools.json")).encode()
    content = with_zstd("header.json", log)

    (run,) = read_runs(content)

    assert run.rounds[1].reply == "I cannot reset it."


@pytest.mark.parametrize(
    ("limit", "ending"),
    [("message", Ending.ROUND_LIMIT), ("turn", Ending.ROUND_LIMIT), ("time", Ending.STOPPED)],
)
def test_inspect_ends_at_a_limit(limit, ending):
    log = load("inspect_ai/two_tools.json")
    log["samples"][0]["limit"] = {"type": limit, "limit": 10}

    (run,) = read_value(log)

    assert (run.ending, run.ending_reason) == (ending, f"{limit} limit 10")


def test_inspect_says_which_sample_is_broken():
    log = load("inspect_ai/two_tools.json")
    packed = io.BytesIO(an_eval(log))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("samples/2_epoch_1.json", '{"messages": [')

    run, problem = read_runs(packed.getvalue())

    assert len(run.rounds) == 2
    assert problem.error.startswith("in samples/2_epoch_1.json: column")


def test_a_hostile_name_in_a_zip_file_is_only_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../../evil.json", (DATA / "native/two_tools.json").read_bytes())
        archive.writestr("notes.txt", "hello")

    run, problem = read_runs(packed.getvalue())

    assert len(run.rounds) == 2
    assert problem.error == "in notes.txt: column 1: this is not JSON"
    assert list(tmp_path.iterdir()) == []


def test_a_zip_file_gives_the_runs_of_each_file():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for format in ("openai_chat", "anthropic"):
            content = (DATA / format / "two_tools.json").read_bytes()
            archive.writestr(f"logs/{format}.json", content)

    runs = list(read_runs(packed.getvalue()))

    assert [(r.run_id, r.format) for r in runs] == [
        ("openai_chat", "openai_chat"),
        ("anthropic", "anthropic"),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"PK\x03\x04 damaged", "the zip file is damaged", id="damaged"),
        pytest.param(b"PK\x05\x06" + b"\0" * 18, "the zip file is empty", id="empty"),
    ],
)
def test_refuses_a_zip_file_that_cannot_be_read(content, says):
    with pytest.raises(UnreadableError, match=says):
        list(read_runs(content))


def test_refuses_a_zip_bomb():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.json", b"[" + b" " * 150_000_000 + b"]")

    (problem,) = read_runs(packed.getvalue())

    assert "times its size" in problem.error


def test_a_line_of_another_format_is_told():
    lines = [
        json.dumps(load("anthropic/two_tools.json")),
        json.dumps({"object": "trace", "id": "t"}),
    ]

    run, problem = read_runs("\n".join(lines).encode())

    assert run.format == "anthropic"
    assert isinstance(problem, ImportProblem)
    assert str(problem) == "line 2: this is not Anthropic messages"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"schema_version": "1", "steps": []}, id="another schema"),
        pytest.param({"trajectory": [{"x": 1}]}, id="a trajectory of something else"),
        pytest.param({"history": [{"x": 1}]}, id="a history of something else"),
        pytest.param({"simulations": 3, "info": {}}, id="simulations that are none"),
        pytest.param({"batch": [{"type": "x"}]}, id="a batch of something else"),
        pytest.param({"data": [{"x": 1}]}, id="data"),
        pytest.param({"data": []}, id="no data"),
        pytest.param([{"object": "list"}], id="objects"),
        pytest.param({"run_type": 3, "inputs": {}}, id="a run type that is none"),
        pytest.param({"version": 2, "status": "ok"}, id="a version"),
        pytest.param({"type": "user"}, id="a type"),
        pytest.param({"tasks_output": [], "token_usage": {}}, id="no tasks"),
    ],
)
def test_leaves_what_only_looks_alike(value):
    assert importer_for(copy.deepcopy(value)) is None


def test_an_input_that_nobody_recorded_is_not_known():
    (run,) = read("openai_agents/trace.json")

    assert [round_.input for round_ in run.rounds] == [None, None]
    assert InputChange() not in [round_.input for round_ in run.rounds]
