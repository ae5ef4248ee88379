"""Putting runs together: which call an answer belongs to, and which round a repeated message is."""

import pytest

from transcripts.importers.building import RunBuilder
from transcripts.importers.turns import Answer, CallDraft, Reply, Turn
from transcripts.record import InputChange, Placed, Stop


def ask(content):
    return Turn("user", content)


def reply(text="", *names, id=""):
    return Turn("assistant", reply=Reply(text, calls=[CallDraft(name, id=id) for name in names]))


def answer(content, id="", name=""):
    return Turn("tool", answers=[Answer(content, id, name)])


def requests(*rounds):
    """A run of requests, each given as (what it read, its reply)."""
    builder = RunBuilder(growing=False)
    for read, said in rounds:
        builder.ask(read)
        builder.add(said)
    return builder.build("r")


def keys(run):
    return [None if read is None else list(read) for _, read in run.inputs()]


@pytest.mark.parametrize("id", ["", "call_0"], ids=["no ids", "one id for all"])
def test_results_in_later_requests_answer_the_right_rounds(id):
    """Three rounds that say the same; each result comes with the next request."""
    first = [ask("go")]
    second = [*first, reply("Hm.", "look", id=id), answer("one", id, "look")]
    third = [*second, reply("Hm.", "look", id=id), answer("two", id, "look")]
    fourth = [*third, reply("Hm.", "look", id=id), answer("three", id, "look")]

    run = requests(
        (first, reply("Hm.", "look", id=id)),
        (second, reply("Hm.", "look", id=id)),
        (third, reply("Hm.", "look", id=id)),
        (fourth, reply("Done.")),
    )

    assert [r.calls[0].result for r in run.rounds[:3]] == ["one", "two", "three"]
    assert keys(run)[3] == [
        "m1.1",
        "reply:1",
        "result:1:0",
        "reply:2",
        "result:2:0",
        "reply:3",
        "result:3:0",
    ]
    assert all(round_.input.dropped == () for round_ in run.rounds)


@pytest.mark.parametrize("id", ["", "call_0"], ids=["no ids", "one id for all"])
def test_an_unanswered_call_takes_no_older_result(id):
    said = reply("Hm.", "look", id=id)
    run = requests(
        ([ask("go")], said),
        ([ask("go"), reply("Hm.", "look", id=id), answer("one", id, "look")], said_again(id)),
        (
            [ask("go"), reply("Hm.", "look", id=id), answer("one", id, "look"), said_again(id)],
            reply("Done."),
        ),
    )

    assert [r.calls[0].result for r in run.rounds[:2]] == ["one", None]


def said_again(id):
    return reply("Again.", "look", id=id)


def test_a_trimmed_history_keeps_the_rounds_it_shows():
    first = [ask("go")]
    pair_1 = [reply("Hm.", "look"), answer("same", name="look")]
    run = requests(
        (first, reply("Hm.", "look")),
        ([*first, *pair_1], reply("Hm.", "look")),
        ([*first, *pair_1, *pair_1], reply("Hm.", "look")),
        ([*pair_1, *pair_1], reply("Done.")),
    )

    assert keys(run)[3] == ["reply:2", "result:2:0", "reply:3", "result:3:0"]
    assert [placed.key for placed in run.rounds[3].input.dropped] == [
        "m1.1",
        "reply:1",
        "result:1:0",
    ]


def test_an_altered_reply_is_a_message_of_its_own():
    run = requests(
        ([ask("go")], reply("The long answer.")),
        ([ask("go"), reply("The long…"), ask("more")], reply("Done.")),
    )

    assert keys(run)[1] == ["m1.1", "m2.1", "m2.2"]
    assert run.message_by_key["m2.1"].content == "The long…"


def test_arguments_written_another_way_are_the_same_reply():
    builder = RunBuilder(growing=False)
    call, again = (
        CallDraft("look", '{"a":1,"b":2}', "c1"),
        CallDraft("look", '{"b": 2, "a": 1}', "c1"),
    )
    builder.add(Turn("assistant", reply=Reply(calls=[call])))
    builder.ask([Turn("assistant", reply=Reply(calls=[again]))])
    builder.add(reply("Done."))

    assert keys(builder.build("r")) == [None, ["reply:1"]]


def test_a_request_that_continues_needs_only_what_is_new():
    builder = RunBuilder(growing=False)
    builder.ask([ask("go")])
    builder.add(reply("", "look", id="c1"))
    builder.ask([answer("fine", "c1")], continues=True)
    builder.add(reply("Done."))
    run = builder.build("r")

    assert keys(run)[1] == ["m1.1", "reply:1", "result:1:0"]
    assert run.rounds[0].calls[0].result == "fine"


def test_a_round_without_a_request_has_no_input_and_the_next_counts_from_nothing():
    builder = RunBuilder(growing=False)
    builder.ask([ask("go")])
    builder.add(reply("a"))
    builder.add(reply("b"))
    builder.ask([ask("go")])
    builder.add(reply("c"))
    run = builder.build("r")

    assert run.rounds[1].input is None
    assert run.rounds[2].input == InputChange((Placed("m1.1"),), whole=True)


def test_results_before_any_reply_get_a_round_that_says_so():
    builder = RunBuilder()
    builder.add(answer("lost", "c9"))
    builder.add(reply("Hello."))
    run = builder.build("r")

    assert [round_.stop for round_ in run.rounds] == [Stop.UNKNOWN, Stop.FINISHED]
    assert run.rounds[0].orphans[0].call_id == "c9"
    assert any(note.startswith("Round 1 stands for a reply") for note in run.notes)


def test_parallel_calls_with_one_id_are_answered_in_order():
    builder = RunBuilder()
    builder.add(reply("", "a", "b", id="x"))
    builder.add(answer("A", "x"))
    builder.add(answer("B", "x"))

    assert [c.result for c in builder.build("r").rounds[0].calls] == ["A", "B"]


def test_a_second_answer_to_a_call_is_kept_as_a_message():
    builder = RunBuilder()
    builder.add(reply("", "a", id="x"))
    builder.add(answer("A", "x"))
    builder.add(answer("A again", "x"))
    builder.add(reply("Done."))
    run = builder.build("r")

    assert run.rounds[0].calls[0].result == "A"
    assert [message.content for message in run.messages if message.content] == ["A again"]


def test_forgetting_starts_the_input_anew():
    builder = RunBuilder()
    for turn in (ask("go"), reply("a")):
        builder.add(turn)
    builder.forget()
    for turn in (ask("summary"), reply("b")):
        builder.add(turn)
    run = builder.build("r")

    assert keys(run) == [["m1.1"], ["m2.1"]]
    assert run.rounds[1].input.whole
