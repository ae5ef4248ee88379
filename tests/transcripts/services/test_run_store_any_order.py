"""Any order, any split and any repetition of the deliveries of one run give the same rows."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories import a_project
from transcripts.importers import read_runs
from transcripts.models import Project, Run
from transcripts.record import RunRecord
from transcripts.selectors.record import run_record
from transcripts.services import run_store
from transcripts.services.fragments import join_fragments, joined

REPLIES = ["", "Let me look.", "I will try again.", "Done."]
RESULTS = ["", "ok", "no such user", "profile: standard"]
SYSTEM = {"role": "system", "content": "You are the helpdesk agent."}
TICKET = {"role": "user", "content": "Ticket 7: my VPN drops."}
# What tells how rows came about, not what they hold.
HISTORY = {"folded", "replaced", "late", "received_at", "updated_at", "id", "mask_hits"}


@st.composite
def told_rounds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rounds that each repeat the whole history, some with a trimmed one.

    Some results come with their calls, some with the history of the next round alone.
    """
    history: list[dict[str, Any]] = [SYSTEM, TICKET]
    rounds = []
    for number in range(1, draw(st.integers(1, 7)) + 1):
        if draw(st.booleans()) and len(history) > 3:
            history = history[draw(st.integers(1, 2)) :]
        if draw(st.integers(0, 4)) == 0:
            history = [*history, {"role": "user", "content": draw(st.sampled_from(REPLIES[1:]))}]
        reply = draw(st.sampled_from(REPLIES))
        calls = [
            {
                "id": f"c{number}.{index}",
                "name": "look",
                "args": {"n": draw(st.integers(0, 2))},
                "result": draw(st.sampled_from(RESULTS)),
            }
            for index in range(draw(st.integers(0, 2)))
        ]
        told = [
            call if draw(st.booleans()) else {k: v for k, v in call.items() if k != "result"}
            for call in calls
        ]
        round_: dict[str, Any] = {"round": number, "reply": reply, "calls": told}
        if draw(st.integers(0, 5)):
            round_["messages"] = list(history)
        rounds.append(round_)
        history = [*history, *_as_history(reply, calls)]
    return rounds


def _as_history(reply: str, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
        }
        for call in calls
    ]
    said = {"role": "assistant", "content": reply, **({"tool_calls": asked} if asked else {})}
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": call["result"]} for call in calls
    ]
    return [said, *answers]


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]:
    """Rounds of a run, and the same in parts, some of them twice, in any order."""
    rounds = draw(told_rounds())
    parts: list[list[dict[str, Any]]] = [[] for _ in rounds]
    for round_ in rounds:
        parts[draw(st.integers(0, len(rounds) - 1))].append(round_)
    parts = [part for part in parts if part]
    parts += draw(st.lists(st.sampled_from(parts), max_size=3))
    return rounds, draw(st.permutations(parts))


def send(project: Project, run_id: str, rounds: list[dict[str, Any]], *, live: bool) -> None:
    run_store(project=project, fragment=fragment_of(run_id, rounds), live=live)


def fragment_of(run_id: str, rounds: list[dict[str, Any]]) -> RunRecord:
    body = {"run_id": run_id, "agent": "helpdesk", "rounds": rounds}
    (record,) = read_runs(json.dumps(body).encode())
    assert isinstance(record, RunRecord), record
    return record


def rows_of(run: Run) -> dict[str, Any]:
    """All that is kept of a run, as text."""
    run.refresh_from_db()
    kept: dict[str, Any] = {
        field.attname: str(getattr(run, field.attname))
        for field in Run._meta.concrete_fields
        if field.attname not in HISTORY
    }
    kept["completeness"] = {
        name: value for name, value in run.completeness.items() if name not in HISTORY
    }
    with connection.cursor() as cursor:
        for table, order in (
            ("round", "number"),
            ("toolcall", "round_number, index"),
            ("message", "ident"),
        ):
            cursor.execute(
                f"SELECT to_jsonb(t) - 'run_id' FROM transcripts_{table} t "
                f"WHERE run_id = %s ORDER BY {order}",
                [run.pk],
            )
            kept[table] = [json.loads(row[0]) for row in cursor.fetchall()]
    return kept


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sent=deliveries())
def test_any_order_gives_the_same_rows(sent: tuple[list[Any], list[list[Any]]]) -> None:
    rounds, parts = sent
    with transaction.atomic():
        project = a_project()
        send(project, "r", rounds, live=True)
        whole = rows_of(Run.objects.get(project=project))
        Run.objects.filter(project=project).delete()

        for part in parts:
            send(project, "r", part, live=True)

        assert rows_of(Run.objects.get(project=project)) == whole
        transaction.set_rollback(True)


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sent=deliveries())
def test_fragments_taken_together_give_the_same_rows(
    sent: tuple[list[Any], list[list[Any]]],
) -> None:
    fragments = [fragment_of("r", part) for part in sent[1]]
    with transaction.atomic():
        project = a_project()
        for fragment in fragments:
            run_store(project=project, fragment=fragment, live=True)
        run = Run.objects.get(project=project)
        counted = (run.folded, run.replaced, run.late)
        apart = rows_of(run)
        Run.objects.filter(project=project).delete()

        for group in join_fragments(fragments):
            record = joined([fragments[index] for index in group])
            run_store(project=project, fragment=record, live=True)

        run = Run.objects.get(project=project)
        assert rows_of(run) == apart
        assert (run.folded, run.replaced, run.late) == counted
        transaction.set_rollback(True)


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rounds=told_rounds(), seed=st.integers(0, 9))
def test_rows_say_what_the_model_read(rounds: list[dict[str, Any]], seed: int) -> None:
    parts = [[round_] for round_ in rounds]
    random.Random(seed).shuffle(parts)
    with transaction.atomic():
        project = a_project()
        for part in parts:
            send(project, "r", part, live=True)

        record = run_record(run=Run.objects.get(project=project)).record

        said = {round_["round"]: round_.get("messages") for round_ in rounds}
        for round_, keys in record.inputs():
            if round_.input is not None:
                read = [_told(record, key) for key in keys or ()]
                assert read == [_plain(message) for message in said[round_.number]]
        transaction.set_rollback(True)


def _told(record: RunRecord, key: str) -> tuple[str, str]:
    message = record.message_by_key[key]
    if message.reply_of is not None:
        return message.role, record.round_by_number[message.reply_of].reply
    if message.result_of is not None:
        number, index = message.result_of
        return message.role, record.round_by_number[number].calls[index].result or ""
    return message.role, message.content


def _plain(message: dict[str, Any]) -> tuple[str, str]:
    return message["role"], message["content"]
