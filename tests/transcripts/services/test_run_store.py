"""Storing runs: what is new is written, what is not changes nothing, what differs is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from typing import Any
from unittest.mock import patch

import pytest
from django.db import transaction
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.factories import a_project, a_record, native_rounds
from tests.strategies import runs
from transcripts.importers import read_runs
from transcripts.masking import Masker
from transcripts.masking.types import MaskedText, masked_text
from transcripts.models import Message, Project, Round, Run, ToolCall
from transcripts.record import Ending, InputChange, Placed, RunRecord
from transcripts.selectors.record import run_record, run_window
from transcripts.services import StoreOutcome, run_store
from transcripts.services.content import storable
from transcripts.services.runs import RunRefusedError
from transcripts.services.totals import fill_gaps

pytestmark = pytest.mark.django_db

SECRET = "ghp_" + "aB3dE5fG7h" * 3 + "Ij9kLm"
HISTORY = [
    {"role": "system", "content": "You are the helpdesk agent."},
    {"role": "user", "content": "Ticket 7: my VPN drops."},
]


@pytest.fixture
def project() -> Project:
    return a_project()


def store(project: Project, rounds: list[Any], *, live: bool = True, **fields: Any) -> StoreOutcome:
    body = {"run_id": "r", "rounds": rounds, **fields}
    (record,) = read_runs(json.dumps(body).encode())
    assert isinstance(record, RunRecord), record
    return run_store(project=project, fragment=record, live=live)


def a_round(number: int, **fields: Any) -> dict[str, Any]:
    return {"round": number, "stop": "wants_tool", "reply": f"Reply {number}.", **fields}


def test_the_same_round_again_is_folded(project: Project) -> None:
    store(project, native_rounds())
    outcome = store(project, native_rounds())

    assert (outcome.new, outcome.folded, outcome.replaced) == (0, 3, 0)
    assert not outcome.changed


def test_a_repeat_is_not_masked_again(project: Project) -> None:
    store(project, native_rounds())
    with patch.object(Masker, "text", side_effect=AssertionError("masked")):
        store(project, native_rounds())


def test_other_content_replaces_and_is_counted(project: Project) -> None:
    rounds = native_rounds()
    store(project, rounds)
    rounds[1] = {"round": 2, "stop": "wants_tool", "calls": [{"name": "other"}, {"name": "third"}]}
    outcome = store(project, rounds)

    assert (outcome.folded, outcome.replaced) == (2, 1)
    assert list(ToolCall.objects.filter(round_number=2).values_list("name", flat=True)) == [
        "other",
        "third",
    ]
    run = Run.objects.get()
    assert (run.call_count, run.unanswered, run.replaced) == (3, 2, 1)


def test_late_rounds_are_counted_and_fill_the_gap(project: Project) -> None:
    rounds = native_rounds(4)
    store(project, [rounds[0], rounds[3]])
    assert Run.objects.get().completeness["gaps"] == [[2, 3]]

    outcome = store(project, rounds[1:3])

    run = Run.objects.get()
    assert (outcome.late, run.late, run.completeness["gaps"]) == (2, 2, [])
    assert run.completeness["complete"]


def test_sums_follow_what_is_replaced(project: Project) -> None:
    store(project, [a_round(1, tokens_in=10, cost=0.5), a_round(2, tokens_in=20)])
    store(project, [a_round(2, tokens_in=5)])
    run = Run.objects.get()
    assert (run.tokens_in, run.tokens_out, float(run.cost or 0)) == (15, None, 0.5)

    store(project, [a_round(1), a_round(2)])
    run.refresh_from_db()
    assert (run.tokens_in, run.cost) == (None, None)


def test_a_repeated_history_is_kept_once(project: Project) -> None:
    history = list(HISTORY)
    for number in range(1, 5):
        store(project, [a_round(number, messages=list(history))])
        history.append({"role": "assistant", "content": f"Reply {number}."})

    assert Message.objects.exclude(content="").count() == len(HISTORY)
    assert (
        list(Message.objects.exclude(reply_of=None).values_list("content", flat=True)) == [""] * 3
    )
    assert [
        len(added) for added in Round.objects.order_by("number").values_list("added", flat=True)
    ]
    sizes = Round.objects.order_by("number").values_list("input_size", flat=True)
    assert list(sizes) == [2, 3, 4, 5]


def test_a_message_keeps_its_text_when_its_round_is_replaced(project: Project) -> None:
    said = {"role": "assistant", "content": "Reply 1."}
    store(project, [a_round(1, messages=HISTORY), a_round(2, messages=[*HISTORY, said])])
    store(project, [a_round(1, reply="Something else.", messages=HISTORY)])

    message = Message.objects.get(role="assistant")
    assert (message.reply_of, message.content) == (None, "Reply 1.")


def test_messages_that_no_round_reads_any_more_are_gone(project: Project) -> None:
    store(project, [a_round(1, messages=[*HISTORY, {"role": "user", "content": "A slip."}])])
    store(project, [a_round(1, messages=HISTORY)])

    assert not Message.objects.filter(content="A slip.").exists()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_results_told_by_the_next_request_answer_their_calls(
    project: Project, order: tuple[int, int]
) -> None:
    call = {"id": "c1", "name": "look", "args": {}}
    asked = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    told = [
        {"role": "assistant", "content": "Reply 1.", "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": "found it"},
    ]
    rounds = [
        a_round(1, messages=HISTORY, calls=[call]),
        a_round(2, messages=[*HISTORY, *told], stop="finished"),
    ]
    outcomes = [store(project, [rounds[i]]) for i in order]

    answered = ToolCall.objects.get()
    assert (answered.result, answered.joined) == ("found it", "id")
    assert Message.objects.get(role="tool").result_round == 1
    run = Run.objects.get()
    assert (run.unanswered, run.completeness["unanswered_calls"]) == (0, 0)
    assert outcomes[1].changed


def test_a_result_that_is_there_is_not_unsaid(project: Project) -> None:
    call = {"id": "c1", "name": "look", "args": {}}
    store(project, [a_round(1, calls=[{**call, "result": "found it"}])])
    outcome = store(project, [a_round(1, calls=[call])])

    assert outcome.folded == 1
    assert ToolCall.objects.get().result == "found it"


def test_the_senders_ending_wins(project: Project) -> None:
    store(project, native_rounds(), live=False)
    assert Run.objects.get().ending == Ending.FINISHED

    store(project, [], live=False, ending="handed_off")
    store(project, native_rounds(), live=False)

    run = Run.objects.get()
    assert (run.ending, run.ending_said) == (Ending.HANDED_OFF, True)


def test_secrets_in_what_comes_later_are_masked_alike(project: Project) -> None:
    store(project, [a_round(1, reply=f"the token is {SECRET}")])
    store(project, [a_round(2, reply=f"again {SECRET}")], agent=SECRET)

    first, second = Round.objects.order_by("number").values_list("reply", flat=True)
    placeholder = first.removeprefix("the token is ")
    assert placeholder.startswith("[SECRET:")
    assert second == f"again {placeholder}"
    run = Run.objects.get()
    assert run.agent == placeholder
    assert sum(run.mask_hits.values()) == 3


def test_a_round_0_is_refused(project: Project) -> None:
    record = a_record()
    broken = replace(record, rounds=(replace(record.rounds[0], number=0),))

    with pytest.raises(RunRefusedError, match="round 0"):
        run_store(project=project, fragment=broken, live=True)


def test_what_postgres_cannot_hold_is_shown_as_such() -> None:
    record = replace(a_record(), agent="a\0b", labels={"half \ud83d": "x"})

    stored = storable(record)

    assert (stored.agent, dict(stored.labels)) == ("a\u2400b", {"half \ufffd": "x"})
    assert storable(stored) is stored


def test_an_append_reads_no_more_the_longer_the_run_is(
    project: Project, django_assert_num_queries: Any
) -> None:
    store(project, native_rounds(60)[:50])
    with django_assert_num_queries(3):  # lock and read, write the rows, write the run
        store(project, native_rounds(60)[50:51])


def test_a_window_names_the_messages_of_its_inputs(project: Project) -> None:
    history = list(HISTORY)
    for number in range(1, 6):
        store(project, [a_round(number, messages=list(history))])
        history.append({"role": "user", "content": f"Note {number}."})
    run = Run.objects.get()

    window = run_window(run=run, first=3, last=4).record

    assert [round_.number for round_ in window.rounds] == [3, 4]
    assert [message.content for message in window.messages] == ["Note 2.", "Note 3."]
    added = [placed.key for r in window.rounds if r.input for placed in r.input.added]
    assert added == [message.key for message in window.messages]


@pytest.mark.parametrize(
    ("gaps", "expected", "before", "new", "left"),
    [
        pytest.param([], 3, 0, [1, 2, 3], [], id="all come"),
        pytest.param([], 5, 0, [2, 4], [(1, 1), (3, 3), (5, 5)], id="every second"),
        pytest.param([(2, 9)], 9, 9, [5], [(2, 4), (6, 9)], id="the middle of a gap"),
        pytest.param([(2, 3)], 9, 3, [], [(2, 9)], id="more is expected"),
        pytest.param([(2, 3)], 3, 3, [2, 3], [], id="the gap is filled"),
    ],
)
def test_gaps(gaps: Any, expected: int, before: int, new: Any, left: Any) -> None:
    assert fill_gaps(gaps, expected=expected, before=before, new=new) == left


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(record=runs())
def test_rows_give_the_record_back(record: RunRecord) -> None:
    # Such a message answers the call, which is what storing is for; see above.
    asked = {call.id for round_ in record.rounds for call in round_.calls if call.result is None}
    assume(not asked & {message.call_id for message in record.messages if message.call_id})
    with transaction.atomic():
        project = a_project()
        stored = run_store(
            project=project, fragment=record, live=record.ending is None, make_masker=no_masker
        )
        read = run_record(run=Run.objects.get(pk=stored.run.pk)).record
        transaction.set_rollback(True)

    assert [replace(r, input=None) for r in read.rounds] == [
        replace(r, input=None) for r in record.rounds
    ]
    for name in ("run_id", "agent", "tools", "labels", "limits", "context_window", "started_at"):
        assert getattr(read, name) == getattr(record, name), name


class NoMasker(Masker):
    """Finds nothing, so that what comes back can be compared."""

    def text(self, value: str) -> MaskedText:
        return masked_text(value)

    json_text = text


def no_masker(project: Project, run: Run) -> Masker:
    return NoMasker(key=b"k" * 32, project=str(project.pk), run=str(run.digest))


@st.composite
def changes(draw: st.DrawFn) -> list[InputChange]:
    """Changes of the sender's own words, one a round."""
    keys = [f"k{n}" for n in range(6)]
    made = []
    size = 0
    for _ in range(draw(st.integers(1, 6))):
        gone = sorted(draw(st.sets(st.integers(0, size - 1), max_size=2))) if size else []
        come = draw(st.lists(st.sampled_from(keys), max_size=3))
        places = [None if draw(st.booleans()) else draw(st.integers(0, 4)) for _ in come]
        made.append(
            InputChange(
                tuple(Placed(key, at) for key, at in zip(come, places, strict=True)),
                tuple(Placed("any", at) for at in gone),
            )
        )
        size += len(come) - len(gone)
    return made


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(said=changes(), data=st.data())
def test_changes_may_come_in_any_order(said: list[InputChange], data: st.DataObject) -> None:
    whole = a_record(rounds=[a_round(number) for number in range(1, len(said) + 1)])
    rounds = [
        replace(round_, input=change) for round_, change in zip(whole.rounds, said, strict=True)
    ]
    record = replace(whole, rounds=tuple(rounds))
    expected = [list(keys or ()) for _, keys in record.inputs()]
    with transaction.atomic():
        project = a_project()
        for round_ in data.draw(st.permutations(rounds)):
            run_store(project=project, fragment=replace(record, rounds=(round_,)), live=True)
        run = Run.objects.get(project=project)
        read = run_record(run=run).record
        sizes = list(
            Round.objects.filter(run=run).order_by("number").values_list("input_size", flat=True)
        )
        transaction.set_rollback(True)

    assert sizes == [len(keys) for keys in expected]
    found = [list(keys or ()) for _, keys in read.inputs()]
    # Stand-ins are other words for the same keys: one for each.
    names = dict(zip(chain(*expected), chain(*found), strict=True))
    assert [[names[key] for key in keys] for keys in expected] == found
    assert len(set(names.values())) == len(names)


def test_a_new_assembly_that_lost_its_last_round_has_the_ending_of_what_is_left() -> None:
    """As when spans that come late move a round to the run of an agent within."""
    project = a_project()
    asks = {"round": 1, "stop": "wants_tool", "calls": [{"name": "look", "result": "found"}]}
    said = {"round": 2, "stop": "finished", "reply": "Done."}

    def assembled(*rounds: dict[str, object]) -> str:
        record = a_record("shrinking", rounds=list(rounds))
        with transaction.atomic():
            stored = run_store(project=project, fragment=record, live=False, assembled=True)
        return stored.run.ending

    assert assembled(asks, said) == Ending.FINISHED
    assert assembled(asks) == Ending.STOPPED
