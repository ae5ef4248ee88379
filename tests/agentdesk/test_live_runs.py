"""A live run is told in the end as if it had come whole: any split, order and repetition."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from agentdesk.pipeline import delivery_process
from analysis.models import Finding, Verdict
from analysis.services.verdicts import stale_run_analyse
from tests.factories import a_project
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.models import Project, Run
from transcripts.services import delivery_accept

# Claims commit by themselves, which a test's own transaction would not let them.
pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM = {"role": "system", "content": "You are the helpdesk agent."}
TICKET = {"role": "user", "content": "Ticket 7: my VPN drops. Password: hunter2-Hunter2"}
RESULTS = ["", "{}", "ok", "no such user", '{"status": "running"}', "Error: timed out", None]
REPLIES = ["", "Let me look.", "I will try again.", "All done, the profile is reset."]
# What tells when and how fast, not what.
HISTORY = {"run_id", "analysed_at", "took_ms", "stale_since", "id"}
RUN = "live-1"


@st.composite
def told_calls(draw: st.DrawFn, number: int) -> list[dict[str, Any]]:
    """Calls of few tools with few arguments, so that they repeat, fail and come back empty."""
    return [
        {
            "id": f"c{number}.{index}",
            "name": draw(st.sampled_from(["reset_vpn", "get_status", "get_status", "find_user"])),
            "args": {"user": draw(st.integers(0, 1))},
            "result": draw(st.sampled_from(RESULTS)),
            "is_error": draw(st.sampled_from([False, False, True, None])),
            "duration_ms": draw(st.sampled_from([None, 40, 30_000])),
        }
        for index in range(draw(st.sampled_from([0, 1, 1, 1, 2])))
    ]


@st.composite
def told_runs(draw: st.DrawFn) -> dict[str, Any]:
    """A run in the native format; some rounds say all that the model read, some of it trimmed."""
    history: list[dict[str, Any]] = [SYSTEM, TICKET]
    says_input = draw(st.booleans())
    rounds = []
    for number in range(1, draw(st.integers(1, 16)) + 1):
        if draw(st.integers(0, 5)) == 0:
            # A request that begins otherwise is read as one that says only what is new.
            history = [SYSTEM, *history[min(3, len(history)) :]]
        calls = draw(told_calls(number))
        reply = draw(st.sampled_from(REPLIES))
        stop = draw(st.sampled_from([None, None, None, "max_tokens", "content_filter", "odd"]))
        round_: dict[str, Any] = {
            "round": number,
            "reply": reply,
            "calls": calls,
            "tokens_in": draw(st.sampled_from([None, 900, 5_000])),
            "tokens_out": 20,
            "cost": draw(st.sampled_from([None, "0.25"])),
        }
        if stop:
            round_["stop_raw"] = stop
        if says_input:
            round_["messages"] = list(history)
        rounds.append(round_)
        asked = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in calls
        ]
        said = {"role": "assistant", "content": reply, **({"tool_calls": asked} if asked else {})}
        history = [*history, said]
        history += [
            {"role": "tool", "tool_call_id": call["id"], "content": call["result"]}
            for call in calls
            if call["result"] is not None
        ]
    header: dict[str, Any] = {"run_id": RUN, "agent": "helpdesk", "model": "gpt-4o"}
    if draw(st.booleans()):
        header["limits"] = {"rounds": 5}
    ending = draw(st.sampled_from([None, None, "handed_off", "stopped", "finished"]))
    return {**header, "rounds": rounds, **({"ending": ending} if ending else {})}


@st.composite
def split_runs(draw: st.DrawFn) -> tuple[dict[str, Any], list[list[dict[str, Any]]]]:
    """A run, and its rounds in parts: in order as agents send them, or in any, some twice."""
    run = draw(told_runs())
    rounds = list(run["rounds"])
    mixed = draw(st.booleans())
    if mixed:
        rounds = draw(st.permutations(rounds))
    parts = []
    while rounds:
        size = draw(st.integers(1, 4))
        parts.append(rounds[:size])
        rounds = rounds[size:]
    if mixed:
        parts += draw(st.lists(st.sampled_from(parts), max_size=2))
    return run, parts


def delivered(project: Project, kind: DeliveryKind, body: dict[str, Any]) -> None:
    run_id = "" if kind == DeliveryKind.FILE else RUN
    content = json.dumps(body).encode()
    delivery, _ = delivery_accept(project=project, kind=kind, content=content, run_id=run_id)
    delivery_process(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.STORED, delivery.error


def told(project: Project) -> dict[str, Any]:
    """All that is said of the project's one run."""
    run = Run.objects.get(project=project)
    (verdict,) = Verdict.objects.filter(run=run).values()
    findings = Finding.objects.filter(run=run).order_by("order").values()
    return {
        "verdict": _without_history(verdict),
        **{str(at): _without_history(finding) for at, finding in enumerate(findings)},
    }


def _without_history(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in HISTORY}


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sent=split_runs(), seed=st.integers(0, 99))
def test_in_the_end_it_says_the_same_as_in_one_piece(
    sent: tuple[dict[str, Any], list[list[dict[str, Any]]]], seed: int
) -> None:
    whole, parts = sent
    chance = random.Random(seed)
    project = a_project()
    delivered(project, DeliveryKind.FILE, whole)
    expected = told(project)
    event(f"findings: {min(len(expected) - 1, 9)}")
    Run.objects.filter(project=project).delete()
    header = {name: value for name, value in whole.items() if name not in ("rounds", "ending")}
    ending = {"ending": whole["ending"]} if "ending" in whole else {}

    for part in parts:
        delivered(project, DeliveryKind.ROUNDS, {**header, "rounds": part})
        if chance.random() < 0.2:
            # The second is over: a marked run is read in between.
            stale_run_analyse(run_pk=Run.objects.get(project=project).pk)
    delivered(project, DeliveryKind.END, {**header, "rounds": [], **ending})

    assert told(project) == expected
    assert not Verdict.objects.filter(run__project=project, stale_since__isnull=False).exists()


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(sent=split_runs())
def test_while_it_goes_on_the_last_pass_has_read_all_that_came(
    sent: tuple[dict[str, Any], list[list[dict[str, Any]]]],
) -> None:
    whole, parts = sent
    header = {name: value for name, value in whole.items() if name not in ("rounds", "ending")}
    project = a_project()
    delivered(project, DeliveryKind.ROUNDS, {**header, "rounds": whole["rounds"]})
    expected = told(project)
    Run.objects.filter(project=project).delete()

    for part in parts:
        delivered(project, DeliveryKind.ROUNDS, {**header, "rounds": part})
    stale_run_analyse(run_pk=Run.objects.get(project=project).pk)

    assert told(project) == expected
