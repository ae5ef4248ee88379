"""Spans in any order, split over any requests, sent any number of times, give the same run."""

from __future__ import annotations

import itertools
import json
import random
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentdesk.pipeline import trace_assemble
from agentdesk.traces import spans_process
from tests.factories import a_project
from tests.transcripts.services.test_run_store_any_order import rows_of
from transcripts.models import OpenTrace, Project, Run, SpanChunk
from transcripts.record import RunRecord
from transcripts.selectors.record import run_record
from transcripts.services import run_store
from transcripts.services.traces import traces_due, traces_put_away

TRACE = "ab" * 16
BEGAN = 1_796_032_800
SECRET = "ghp_" + "aB3dE5fG7h" * 3 + "Ij9kLm"
REPLIES = ["", "Let me look.", f"The token is {SECRET}.", "Again."]
RESULTS = ["", "ok", "no such user", f"token: {SECRET}"]

Span = dict[str, Any]


def pairs(**attributes: Any) -> list[dict[str, Any]]:
    return [
        {"key": key.replace("__", "."), "value": {"stringValue": value}}
        if isinstance(value, str)
        else {"key": key.replace("__", "."), "value": {"intValue": str(value)}}
        for key, value in attributes.items()
    ]


def a_span(number: int, parent: str, start: int, end: int, **attributes: Any) -> Span:
    status = attributes.pop("status", {})
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": parent,
        "name": attributes.get("gen_ai__operation__name", "work"),
        "startTimeUnixNano": str((BEGAN + start) * 10**9),
        "endTimeUnixNano": str((BEGAN + end) * 10**9),
        "attributes": pairs(**attributes),
        "status": status,
    }


def agent_spans(
    number: int, parent: str, name: str, rounds: list[tuple[str, list[str]]]
) -> list[Span]:
    """An agent with its model requests, each of which repeats the history, and its tools.

    The tool `delegate` has an agent of its own below it.
    """
    agent = f"{number:016x}"
    spans = [
        a_span(
            number,
            parent,
            number,
            number + 90,
            gen_ai__operation__name="invoke_agent",
            gen_ai__agent__name=name,
        )
    ]
    history: list[dict[str, Any]] = [
        {"role": "user", "parts": [{"type": "text", "content": f"Ticket for {name}"}]}
    ]
    at = number
    for reply, results in rounds:
        at += 2
        calls = [
            {"type": "tool_call", "id": f"c{at}.{i}", "name": "look", "arguments": {"n": i}}
            for i in range(len(results))
        ]
        answer = {"role": "assistant", "parts": [{"type": "text", "content": reply}, *calls]}
        spans.append(
            a_span(
                at,
                agent,
                at,
                at + 1,
                gen_ai__operation__name="chat",
                gen_ai__provider__name="openai",
                gen_ai__request__model="m",
                gen_ai__input__messages=json.dumps(history),
                gen_ai__output__messages=json.dumps([answer]),
                gen_ai__usage__input_tokens=10 * len(history),
            )
        )
        history = [*history, answer]
        for i, result in enumerate(results):
            spans.append(
                a_span(
                    at + 1000 * (i + 1),
                    agent,
                    at + 1,
                    at + 2,
                    gen_ai__operation__name="execute_tool",
                    gen_ai__tool__name="look",
                    gen_ai__tool__call__id=f"c{at}.{i}",
                    gen_ai__tool__call__result=result,
                )
            )
            part = {"type": "tool_call_response", "id": f"c{at}.{i}", "response": result}
            history.append({"role": "tool", "parts": [part]})
    return spans


told_rounds = st.lists(
    st.tuples(st.sampled_from(REPLIES), st.lists(st.sampled_from(RESULTS), max_size=2)),
    min_size=1,
    max_size=5,
)


@st.composite
def traces(draw: st.DrawFn) -> list[Span]:
    rounds = draw(told_rounds)
    spans = agent_spans(1, "", "main", rounds)
    tools = [s for s in spans if int(s["spanId"], 16) > 1000]
    if tools and draw(st.booleans()):
        spans += agent_spans(200, tools[0]["spanId"], "helper", draw(told_rounds))
    return spans


def request_of(spans: list[Span]) -> bytes:
    group = {"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": spans}]}
    return json.dumps({"resourceSpans": [group]}).encode()


def send(project: Project, *requests: list[Span]) -> None:
    def store(_: Project, record: RunRecord, live: bool) -> None:
        run_store(project=project, fragment=record, live=live, assembled=True)

    for spans in requests:
        with transaction.atomic():
            spans_process(project=project, content=request_of(spans), store=store)


def settle() -> None:
    """What the queue does in time."""
    for trace in OpenTrace.objects.filter(due_at__isnull=False):
        trace_assemble(trace.pk)


def rows(project: Project) -> dict[str, Any]:
    """All rows of all runs, by the run's name.

    But for digests of secrets, which a run keeps when what said them moves to a run within it.
    """
    found = {run.run_id: rows_of(run) for run in Run.objects.filter(project=project)}
    for kept in found.values():
        del kept["mask_known"]
    return found


def start_again(project: Project) -> None:
    Run.objects.filter(project=project).delete()
    SpanChunk.objects.all().delete()
    OpenTrace.objects.all().delete()


@pytest.mark.django_db
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(spans=traces(), seed=st.integers(0, 2**16), times=st.integers(1, 2))
def test_any_order_split_and_repetition_give_the_same_runs(
    spans: list[Span], seed: int, times: int
) -> None:
    chance = random.Random(seed)
    shuffled = [*spans] * times
    chance.shuffle(shuffled)
    cuts = sorted(chance.sample(range(len(shuffled) + 1), k=min(4, len(shuffled))))
    parts = [shuffled[a:b] for a, b in itertools.pairwise([0, *cuts, len(shuffled)])]
    with transaction.atomic():
        project = a_project()
        send(project, spans)
        whole = rows(project)
        start_again(project)

        for part in filter(None, parts):
            send(project, part)
            if chance.random() < 0.7:
                # As if the trace had rested by the time of the next request.
                OpenTrace.objects.update(assembled_at=timezone.now() - timedelta(hours=1))
        settle()

        assert whole
        now = rows(project)
        assert now.keys() == whole.keys()
        for run_id, kept in whole.items():
            assert {k: v for k, v in now[run_id].items() if kept[k] != v} == {
                k: kept[k] for k, v in now[run_id].items() if kept[k] != v
            }
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_the_same_request_again_is_folded() -> None:
    project = a_project()
    spans = agent_spans(1, "", "main", [("Looking.", ["ok"])])

    send(project, spans, spans)

    trace = OpenTrace.objects.get()
    assert (trace.span_count, trace.folded) == (len(spans), len(spans))
    assert SpanChunk.objects.count() == 1


@pytest.mark.django_db
def test_a_run_is_open_until_its_root_span_comes() -> None:
    project = a_project()
    root, *others = agent_spans(1, "", "main", [("Looking.", ["ok"]), ("Done.", [])])

    send(project, others)
    before = Run.objects.get().over
    send(project, [root])

    assert not before
    run = Run.objects.get()
    assert (run.over, run.ending) == (True, "finished")


@pytest.mark.django_db
def test_a_silent_trace_is_over_and_late_spans_open_it_again(settings: Any) -> None:
    project = a_project()
    _, *others = agent_spans(1, "", "main", [("Looking.", ["ok"]), ("Done.", [])])
    late = others.pop()
    send(project, others)
    OpenTrace.objects.update(seen_at=timezone.now() - timedelta(hours=1))

    (pk,) = traces_due(older_than=timedelta(seconds=1), idle=timedelta(minutes=5))
    trace_assemble(pk)
    over = Run.objects.get().over
    OpenTrace.objects.update(assembled_at=timezone.now() - timedelta(hours=1))
    send(project, [late])

    assert over
    run = Run.objects.get()
    assert (run.over, run.round_count, run.late) == (False, 2, 1)
    assert traces_due(older_than=timedelta(seconds=1), idle=timedelta(minutes=5)) == []


@pytest.mark.django_db
def test_spans_after_the_trace_was_put_away_stand_after_the_others() -> None:
    project = a_project()
    spans = agent_spans(1, "", "main", [("Looking.", ["ok"]), ("Done.", [])])
    send(project, spans)
    OpenTrace.objects.update(seen_at=timezone.now() - timedelta(hours=2))

    traces_put_away(kept=timedelta(hours=1))
    kept = SpanChunk.objects.count(), OpenTrace.objects.count()
    send(project, agent_spans(300, spans[0]["spanId"], "main", [("Too late.", [])])[1:])

    assert kept == (0, 0)
    record = run_record(run=Run.objects.get()).record
    assert [round_.reply for round_ in record.rounds] == ["Looking.", "Done.", "Too late."]
    assert any("put away" in note for note in record.notes)


@pytest.mark.django_db
def test_an_agent_below_a_tool_is_a_run_of_its_own_and_both_are_linked() -> None:
    project = a_project()
    spans = agent_spans(1, "", "main", [("Asking.", ["helped"]), ("Done.", [])])
    tool = next(span for span in spans if span["name"] == "execute_tool")
    spans += agent_spans(200, tool["spanId"], "helper", [("I am the helper.", [])])

    send(project, *([span] for span in reversed(spans)))
    settle()

    outer, inner = (run_record(run=run).record for run in Run.objects.order_by("run_id"))
    assert [round_.reply for round_ in outer.rounds] == ["Asking.", "Done."]
    assert [round_.reply for round_ in inner.rounds] == ["I am the helper."]
    assert outer.rounds[0].calls[0].sub_run == inner.run_id
    assert (inner.parent_run_id, inner.agent, outer.agent) == (outer.run_id, "helper", "main")


@pytest.mark.django_db
def test_a_trace_that_cannot_be_put_together_is_given_up_until_more_comes() -> None:
    project = a_project()
    _, *spans = agent_spans(1, "", "main", [("Looking.", ["ok"]), ("Done.", [])])
    send(project, spans[:1])
    send(project, spans[1:2])
    due = OpenTrace.objects.get()

    with patch("agentdesk.traces.trace_runs", side_effect=RuntimeError):
        trace_assemble(due.pk)
    given_up = OpenTrace.objects.get()
    OpenTrace.objects.update(assembled_at=timezone.now() - timedelta(hours=1))
    send(project, spans[2:])

    assert due.due_at is not None
    assert given_up.due_at is None
    assert Run.objects.get().round_count == 2


@pytest.mark.django_db
def test_repeated_history_is_kept_once() -> None:
    def stored(rounds: int) -> tuple[int, int]:
        project = a_project()
        told = [
            (f"Reply {i} " + "word " * 50, [f"Result {i} " + "text " * 100]) for i in range(rounds)
        ]
        root, *spans = agent_spans(1, "", "main", told)
        for start in range(0, len(spans), 4):
            send(project, spans[start : start + 4])
            OpenTrace.objects.update(assembled_at=None)
        send(project, [root])
        run = Run.objects.get(project=project)
        text = sum(len(message.content) for message in run.messages.all())
        chunks = SpanChunk.objects.filter(trace__project=project)
        return text, sum(len(chunk.body) + len(chunk.known or b"") for chunk in chunks)

    few, many = stored(10), stored(40)

    # The texts of replies and results stand in their rounds; a message repeats none of them.
    assert many[0] < 4 * few[0] + 1000
    assert many[1] < 5 * few[1]
