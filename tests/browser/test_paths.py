"""An IT lead and an engineer find what went wrong, by keys alone, in light and dark; axe agrees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core import mail
from playwright.sync_api import Page

from analysis.alerts.channels import channel_add, rule_add
from analysis.alerts.outbox import rules_forget
from analysis.alerts.sending import messages_send
from analysis.models import AlertKind, ChannelKind, Incident, IncidentState, TestCase
from tests.analysis.case_pages.made import a_result_of, the_vpn_story_run
from tests.browser.paths import PASSWORD, Keyboard, engineer_path, lead_path
from tests.factories import a_key, a_member, a_user
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import KeyScope, Role
from transcripts.models import Project, Run, User

pytestmark = pytest.mark.browser
LEAD = "lea@desk.example"


@pytest.fixture
def people(project: Project) -> dict[str, User]:
    lead = a_user(LEAD, PASSWORD, name="Lea Lead")
    engineer = a_user("erin@desk.example", PASSWORD, name="Erin Engineer")
    return {
        "lead": a_member(project, Role.LEAD, user=lead),
        "engineer": a_member(project, Role.ENGINEER, user=engineer),
    }


@pytest.fixture(params=["light", "dark"])
def keys(request: pytest.FixtureRequest, visitor: Page) -> Keyboard:
    visitor.emulate_media(color_scheme=request.param)
    visitor.set_viewport_size({"width": 1440, "height": 900})
    return Keyboard(visitor, look=clean(visitor))


def clean(page: Page) -> Callable[[str], None]:
    """Asks axe at each place, and that nothing scrolls sideways."""

    def look(name: str) -> None:
        found = Axe().run(page, options={"resultTypes": ["violations"]})
        assert found.violations_count == 0, (name, found.generate_report())
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), name

    return look


def the_link_of_a_mail(project: Project, lead: User, address: str, settings: Any) -> str:
    """A run is flagged; the last link of the mail that tells of it."""
    settings.AGENTDESK_URL = address
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Leads", address=LEAD, user=lead
    )
    rule_add(project=project, channel=channel, kind=AlertKind.RUN_FLAGGED)
    rules_forget()
    the_vpn_run(project)
    a_shown_run(project=project)
    messages_send(channel_pk=channel.pk)
    rules_forget()
    (sent,) = mail.outbox
    return re.findall(r"http\S+", sent.body)[-1]


def test_an_it_lead_from_a_mail_to_an_owner(
    keys: Keyboard, project: Project, people: dict[str, User], live_server: Any, settings: Any
) -> None:
    link = the_link_of_a_mail(project, people["lead"], live_server.url, settings)

    lead_path(keys, link, ticket="IT-20931", lead=LEAD)

    owner = Run.objects.get(project=project, ticket_id="IT-20931").triage.owner
    assert owner == people["engineer"]


def test_an_engineer_from_an_incident_to_a_test_that_passes(
    keys: Keyboard, project: Project, people: dict[str, User], live_server: Any
) -> None:
    the_vpn_story_run(project)
    _, key = a_key(project, KeyScope.RESULTS)

    def replayed() -> None:
        result = a_result_of(TestCase.objects.get(), 20, 20, versions={"code": "1.14.1"})
        send(f"{live_server.url}/api/v1/cases/CASE-1/results", key, result)

    engineer_path(keys, live_server.url, replayed)

    incident = Incident.objects.get(number=1)
    assert (incident.state, incident.resolved_in) == (IncidentState.RESOLVED, "1.14.1")


def send(address: str, key: str, document: dict[str, Any]) -> None:
    """POST it as the harness does."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(address, json.dumps(document).encode(), headers)) as answer:
        assert answer.status == 201
