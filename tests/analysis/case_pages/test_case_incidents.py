"""Results of cases and the incidents that they were made of."""

from __future__ import annotations

import pytest
from django.template import Context, Template
from django.test import Client, RequestFactory
from django.urls import reverse

from analysis.models import Incident, IncidentEvent, IncidentState, TestCase
from analysis.services.cases import case_edit
from analysis.services.incidents import incident_reopen, incident_resolve
from tests.analysis.case_pages.made import VPN, a_kept_result, a_test_case, the_vpn_story_run
from tests.factories import a_member, a_project
from transcripts.access import Reader
from transcripts.choices import Role
from transcripts.models import AccessEntry, Change, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> TestCase:
    """A case of the incident that the grouping made of its run."""
    case = a_test_case(the_vpn_story_run(a_project("helpdesk")))
    case.incident = Incident.objects.filter(project=case.project).earliest("number")
    case.save()
    return case


def state_of(case: TestCase) -> str:
    assert case.incident is not None
    case.incident.refresh_from_db()
    return case.incident.state


def resolved(case: TestCase) -> None:
    assert case.incident is not None
    incident_resolve(incident=case.incident)
    case.incident.refresh_from_db()


def shown(case: TestCase, role: Role) -> tuple[str, User]:
    """What the incident's page says of its cases."""
    person = a_member(case.project, role)
    reader = Reader(case.project, person, role, False)
    request = RequestFactory().get("/p/helpdesk/incidents/1/")
    template = Template("{% load cases %}{% incident_cases incident %}")
    context = Context({"reader": reader, "request": request, "incident": case.incident})
    return template.render(context), person


def resolve(case: TestCase, client: Client, role: Role = Role.LEAD) -> str:
    client.force_login(a_member(case.project, role))
    answer = client.post(
        reverse("analysis:case_resolve", args=["helpdesk", case.number]), follow=True
    )
    return answer.content.decode()


def test_a_failing_result_takes_a_resolved_incident_up_again(case: TestCase) -> None:
    resolved(case)

    a_kept_result(case, 0, 1, code="c2")

    assert state_of(case) == IncidentState.REGRESSED
    event = IncidentEvent.objects.filter(kind="reopened").get()
    assert event.detail == {"case": "CASE-1"}


def test_a_passing_result_leaves_it_resolved(case: TestCase) -> None:
    resolved(case)

    a_kept_result(case, 1, 1, code="c2")

    assert state_of(case) == IncidentState.RESOLVED


def test_a_version_that_was_known_to_fail_says_nothing_new(case: TestCase) -> None:
    a_kept_result(case, 0, 1, code="old")
    resolved(case)

    a_kept_result(case, 0, 1, code="old")

    assert state_of(case) == IncidentState.RESOLVED


def test_a_result_of_another_state_of_the_case_says_nothing(case: TestCase) -> None:
    resolved(case)

    a_kept_result(case, 0, 1, code="c2", case_digest="0" * 64)

    assert state_of(case) == IncidentState.RESOLVED


def test_a_passing_version_offers_to_resolve(case: TestCase, client: Client) -> None:
    a_kept_result(case, 1, 1, code="c2")

    page, _ = shown(case, Role.LEAD)
    assert "CASE-1 passes in code <code>c2</code>" in page
    answer = resolve(case, client)

    assert case.incident is not None
    assert f"{case.incident.name} is resolved." in answer
    assert state_of(case) == IncidentState.RESOLVED
    assert (case.incident.resolved_in, case.incident.resolved_kind) == ("c2", "code")
    lines = AccessEntry.objects.filter(action="incident")
    assert [line.detail["case"] for line in lines] == ["CASE-1"]


def test_resolving_can_be_undone(case: TestCase, client: Client) -> None:
    a_kept_result(case, 1, 1, code="c2")
    before = state_of(case)
    resolve(case, client)

    client.post(reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk]))

    assert state_of(case) == before


@pytest.mark.parametrize("reason", ["failed", "before", "edited", "none"])
def test_nothing_is_offered_where_nothing_speaks_for_it(
    case: TestCase, client: Client, reason: str
) -> None:
    if reason == "failed":
        a_kept_result(case, 0, 1, code="c2")
    elif reason == "before":
        a_kept_result(case, 1, 1, code="c2")
        resolved(case)
        assert case.incident is not None
        incident_reopen(incident=case.incident)
    elif reason == "edited":
        a_kept_result(case, 1, 1, code="c2")
        case_edit(case=case, definition={**VPN, "title": "Other"})
    case = TestCase.objects.select_related("incident").get()
    before = state_of(case)

    page, _ = shown(case, Role.LEAD)
    answer = resolve(case, client)

    assert "Resolve INC" not in page
    assert "No passing result" in answer
    assert state_of(case) == before


def test_an_observer_sees_the_rate_and_no_text(case: TestCase) -> None:
    a_kept_result(case, 9, 10, code="c2")

    page, _ = shown(case, Role.OBSERVER)

    assert "90% of 10 runs" in page
    assert "VPN drops" not in page
    assert "<form" not in page


def test_the_incident_page_shows_its_cases(case: TestCase, client: Client) -> None:
    a_kept_result(case, 9, 10, code="c2")
    client.force_login(a_member(case.project, Role.LEAD))
    assert case.incident is not None

    page = client.get(
        reverse("analysis:incident_detail", args=["helpdesk", case.incident.number])
    ).content.decode()

    assert reverse("analysis:case_detail", args=["helpdesk", 1]) in page
    assert "90% of 10 runs" in page
