"""Live runs that went quiet, and what wakes them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agentdesk.pipeline import delivery_process
from analysis.models import LimitSet, Verdict
from analysis.services.quiet import quiet_runs_close
from tests.factories import a_project
from transcripts.choices import DeliveryKind
from transcripts.models import Project, Run
from transcripts.services import delivery_accept

pytestmark = pytest.mark.django_db(transaction=True)
CALL = {"name": "get_ticket", "args": {"id": 5}, "result": "printer"}


def sent(project: Project, number: int, kind: DeliveryKind = DeliveryKind.ROUNDS) -> Run:
    body: dict[str, Any] = {"rounds": [{"round": number, "stop": "wants_tool", "calls": [CALL]}]}
    content = json.dumps(body).encode()
    delivery, _ = delivery_accept(project=project, kind=kind, content=content, run_id="live")
    delivery_process(delivery.pk)
    return Run.objects.get(project=project)


def quiet_for(run: Run, **ago: int) -> None:
    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - timedelta(**ago))


def test_a_run_that_just_grew_stays_open() -> None:
    run = sent(a_project(), 1)
    quiet_for(run, minutes=59)

    assert quiet_runs_close() == 0
    run.refresh_from_db()
    assert run.ending == "open"


def test_a_run_to_which_nothing_came_for_an_hour_never_finished() -> None:
    run = sent(a_project(), 1)
    quiet_for(run, minutes=61)

    assert quiet_runs_close() == 1
    run.refresh_from_db()
    assert (run.ending, run.quiet) == ("stopped", True)
    verdict = Verdict.objects.get()
    assert (verdict.kind, verdict.flagged) == ("never_finished", True)
    assert quiet_runs_close() == 0


def test_what_comes_next_opens_it_again() -> None:
    project = a_project()
    quiet_for(sent(project, 1), hours=2)
    quiet_runs_close()

    run = sent(project, 2)

    assert (run.ending, run.over, run.quiet) == ("open", False, False)
    assert run.late == 0


def test_the_same_round_again_does_not_open_it() -> None:
    project = a_project()
    quiet_for(sent(project, 1), hours=2)
    quiet_runs_close()

    assert sent(project, 1).ending == "stopped"


def test_a_project_and_an_agent_set_how_long() -> None:
    project = a_project()
    LimitSet.objects.create(project=project, values={"idle_seconds": 60})
    run = sent(project, 1)
    quiet_for(run, minutes=2)

    assert quiet_runs_close() == 1


def test_runs_that_may_be_quiet_for_longer_keep_no_other_waiting() -> None:
    patient, hasty = a_project(), a_project()
    LimitSet.objects.create(project=patient, values={"idle_seconds": 86_400})
    LimitSet.objects.create(project=hasty, values={"idle_seconds": 60})
    for project, hours in ((patient, 5), (hasty, 1)):
        sent(project, 1)
        Run.objects.filter(project=project).update(
            updated_at=timezone.now() - timedelta(hours=hours)
        )

    assert quiet_runs_close(limit=1) == 1
    assert set(Run.objects.filter(ending="stopped").values_list("project", flat=True)) == {hasty.pk}
