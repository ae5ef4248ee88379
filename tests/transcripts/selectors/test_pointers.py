"""What is written about a round finds it again when late spans have shifted the numbers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import a_project, a_stored_run, native_rounds
from tests.transcripts.services.test_traces_any_order import agent_spans, send
from transcripts.models import OpenTrace, Round, Run
from transcripts.selectors.pointers import numbers_of, pointers_of

pytestmark = pytest.mark.django_db


def rested() -> None:
    OpenTrace.objects.update(assembled_at=timezone.now() - timedelta(hours=1))


def test_it_moves_with_its_round_when_an_earlier_request_comes_late() -> None:
    project = a_project()
    root, first, *others = agent_spans(1, "", "main", [("One.", []), ("Two.", []), ("Three.", [])])
    send(project, others)
    run = Run.objects.get()
    before = pointers_of(run=run, numbers=[1, 2])
    rested()

    send(project, [root, first])

    run.refresh_from_db()
    assert run.round_count == 3
    assert Round.objects.get(run=run, number=2).reply == "Two."
    assert numbers_of(run=run, pointers=before.values()) == {before[1]: 2, before[2]: 3}


def test_a_round_is_named_by_its_span_and_keeps_the_name() -> None:
    project = a_project()
    root, first = agent_spans(1, "", "main", [("One.", [])])

    send(project, [root, first])

    assert Round.objects.get().key == first["spanId"]


def test_a_round_without_a_name_is_pointed_at_by_its_number() -> None:
    run = a_stored_run()

    assert pointers_of(run=run, numbers=[2, 99]) == {2: "#2"}
    assert numbers_of(run=run, pointers=["#2", "#99", "#x", "", "#99999999999", "gone"]) == {
        "#2": 2
    }


def test_a_name_of_the_senders_own_does_as_well() -> None:
    rounds = native_rounds()
    rounds[1]["key"] = "step-b"
    run = a_stored_run(rounds=rounds)

    (pointer,) = pointers_of(run=run, numbers=[2]).values()

    assert pointer != "#2"
    assert numbers_of(run=run, pointers=[pointer, "#2"]) == {pointer: 2, "#2": 2}


def test_the_first_of_two_rounds_with_one_name_is_found() -> None:
    run = a_stored_run()
    Round.objects.filter(run=run, number__gt=1).update(ident="a" * 12)

    assert numbers_of(run=run, pointers=["a" * 12]) == {"a" * 12: 2}
