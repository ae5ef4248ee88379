"""The statement of completeness says the same on the page, by the API and in `check --json`: each
of its points, from deliveries that leave gaps, repeat, come late and lack results.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agentdesk.pipeline import delivery_process
from analysis.check import check_file, run_report
from tests.factories import a_key, a_member, a_project
from transcripts.choices import DeliveryKind, KeyScope, Role
from transcripts.export import all_exporters
from transcripts.models import Project, Run
from transcripts.run_facts import transcript_fact
from transcripts.selectors.record import run_record
from transcripts.services.deliveries import delivery_accept

pytestmark = pytest.mark.django_db(transaction=True)

ANSWERED = [{"id": "c", "name": "look", "args": {}, "result": "there"}]
UNANSWERED = [{"id": "d", "name": "look", "args": {}, "result": None}]
WANTED = {
    "rounds_expected": 9,
    "rounds_received": 4,
    "gaps": [[4, 6], [8, 9]],
    "unanswered_calls": 1,
    "missing_stops": 1,
    "orphan_results": 1,
    "folded": 2,
    "replaced": 1,
    "late": 1,
    "complete": False,
}


def a_round(number: int, **values: Any) -> dict[str, Any]:
    return {"round": number, "stop_raw": "tool_use", "calls": ANSWERED, **values}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def run(project: Project) -> Run:
    orphan = {"orphans": [{"call_id": "x", "content": "nobody asked"}]}
    parts = (
        [a_round(1), a_round(2)],
        [a_round(1)],
        [a_round(7, calls=UNANSWERED)],
        [{"round": 3, "calls": ANSWERED, **orphan}],
        [a_round(2, reply="other"), a_round(1)],
    )
    for rounds in parts:
        send(project, {"run_id": "r", "rounds": rounds})
    send(project, {"run_id": "r", "rounds": [], "rounds_expected": 9, "ending": "stopped"})
    return Run.objects.get()


def send(project: Project, run: dict[str, Any]) -> None:
    delivery, _ = delivery_accept(
        project=project, kind=DeliveryKind.RUNS, content=json.dumps(run).encode(), format="native"
    )
    delivery_process(delivery.pk)


def test_the_api_says_each_point(run: Run, project: Project) -> None:
    _, key = a_key(project, KeyScope.READ)

    answer = Client(headers={"Authorization": f"Bearer {key}"}).get("/api/v1/runs/r")

    assert answer.json()["completeness"] == WANTED


def test_check_says_each_point(run: Run, tmp_path: Path) -> None:
    """Of the run as it is exported, which says what happened to it on its way in."""
    native = next(exporter for exporter in all_exporters() if exporter.name == "native")
    file = tmp_path / "run.json"
    file.write_text(native.write(run_record(run=run)), encoding="utf-8")

    (checked,) = check_file(str(file))

    assert run_report(checked)["completeness"] == WANTED  # type: ignore[arg-type]


def test_the_facts_count_in_words(run: Run) -> None:
    fact = transcript_fact(run.completeness)

    assert fact.note == (
        "rounds 4 to 6 are missing; rounds 8 to 9 are missing; 1 call without a result; "
        "1 result that answers no call"
    )
    assert fact.title == (
        "1 round without a stop label; 2 repeats folded on arrival; 1 round replaced; "
        "1 round came late"
    )


def test_the_page_says_each_point_to_all_who_see_runs(
    run: Run, project: Project, client: Client
) -> None:
    client.force_login(a_member(project, Role.OBSERVER))

    page = client.get(reverse("analysis:run_detail", args=["helpdesk", run.pk])).content.decode()

    (details,) = re.findall(r'<details class="completeness.*?</details>', page, re.DOTALL)
    said = re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", details)
    assert dict(said) == {
        "rounds expected": "9",
        "rounds received": "4",
        "missing rounds": "4 to 6, 8 to 9",
        "calls without a result": "1",
        "results that answer no call": "1",
        "rounds without a stop label": "1",
        "repeated rounds that changed nothing": "2",
        "rounds that were replaced": "1",
        "rounds that came late": "1",
    }
