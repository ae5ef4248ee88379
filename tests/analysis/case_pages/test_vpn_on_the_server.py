"""The story of docs/vpn-story.md with the server: the page, the download, results, the incident."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.cases.replay import replay_command
from analysis.models import CaseResult, Incident, IncidentState, TestCase
from tests.analysis.case_pages.forms import form_values
from tests.analysis.case_pages.made import the_vpn_story_run
from tests.analysis.cases import vpn
from tests.factories import a_key, a_member, a_project
from transcripts.choices import KeyScope, Role
from transcripts.models import Run

pytestmark = pytest.mark.django_db(transaction=True)
STORY = Path(__file__).parents[3] / "docs" / "vpn-story.md"
EXPECTED = ["ending", "max_rounds", "no_identical_call", "no_empty_result", "ticket_in_every_input"]


def made_on_the_page(client: Client, run: Run) -> TestCase:
    """The engineer keeps what the findings ask for, the detectors aside, and says what the tools
    answer and what a model would reply.
    """
    address = reverse("analysis:case_make", args=["helpdesk", run.pk])
    values = form_values(client.get(address).content.decode())
    for do in ("add-mock", "add-branch", "add-reply-0"):
        values = form_values(client.post(address, {**values, "do": do}).content.decode())
    silent = next(name for name, value in values.items() if value == ["detectors_silent"])
    del values[silent.replace("-kind", "-on").replace("-id", "-on")]
    values |= {
        "m0-on": ["on"],
        "m0-text": [vpn.NO_PERMISSION],
        "m0-raises": ["PermissionError"],
        "m1-tool": ["escalate_to_it_team"],
        "m1-answer": ["result"],
        "m1-text": ["handed to the IT team as IT-88"],
        "b0-result_of": ["reset_vpn_profile"],
        "b0-contains": ["no permission"],
        "b0r0-text": ["I hand it over."],
        "b0r0-calls": ['escalate_to_it_team {"ticket": "HD-5127"}'],
        "b0r1-text": ["The IT team has your ticket."],
        "b0r1-stop": ["finished"],
    }
    answer = client.post(address, {**values, "do": "save"})
    assert answer.status_code == 302, answer.content.decode()
    return TestCase.objects.get()


def test_the_story(
    live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run = the_vpn_story_run(a_project("helpdesk"))
    client = Client()
    client.force_login(a_member(run.project, Role.ENGINEER))

    case = made_on_the_page(client, run)

    _, key = a_key(run.project, KeyScope.READ, KeyScope.RESULTS)
    monkeypatch.setenv("AGENTDESK_KEY", key)
    command = re.search(r"\$AGENTDESK_URL(/api/v1/cases/CASE-1\?as=zip)", STORY.read_text("utf-8"))
    assert command
    packed = Client(headers={"Authorization": f"Bearer {key}"}).get(command[1])
    zipfile.ZipFile(BytesIO(packed.content)).extractall(tmp_path)

    def replayed(agent: str, code: str) -> str:
        options = ["--agent", f"tests.analysis.cases.vpn:{agent}", "--code-version", code]
        replay_command([str(tmp_path / "CASE-1"), *options, "--post", live_server.url])
        printed: str = capsys.readouterr().out
        return printed

    assert "still going at round 52" in replayed("old_agent", "old")
    told = replayed("new_loop_only", "loop")
    assert "handed off at round 7: repeated call: reset_vpn_profile" in told
    assert replayed("new_agent", "both").startswith("ok    CASE-1  finished at round 5")

    results = list(CaseResult.objects.order_by("pk"))
    assert [(each.code_version, each.state) for each in results] == [
        ("old", "failed"),
        ("loop", "failed"),
        ("both", "passed"),
    ]
    assert [entry["id"] for entry in results[0].expectations] == EXPECTED
    failed = [entry["id"] for entry in results[1].expectations if entry["state"] == "failed"]
    assert failed == ["no_empty_result"]
    detail = reverse("analysis:case_detail", args=["helpdesk", 1])
    page = client.get(detail).content.decode()
    assert "passes in code <code>both</code>" in page

    client.post(reverse("analysis:case_resolve", args=["helpdesk", 1]))
    incident = Incident.objects.get(pk=case.incident_id)
    assert (incident.state, incident.resolved_in) == (IncidentState.RESOLVED, "both")
    client.post(reverse("analysis:case_accept", args=["helpdesk", 1]), {"result": results[-1].pk})
    replayed("new_loop_only", "the old wrapper is back")

    incident.refresh_from_db()
    assert incident.state == IncidentState.REGRESSED
    assert "100% → 0% over 1 run: may be chance (p = 1)" in client.get(detail).content.decode()
