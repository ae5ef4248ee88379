from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from analysis.detectors import all_detectors
from analysis.limits.learning import baseline_learn
from analysis.models import LimitSet
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import Role
from transcripts.masking import masked_text
from transcripts.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def observer(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.OBSERVER))
    return client


def page_of(client: Client, name: str, **query: str) -> str:
    answer = client.get(reverse("analysis:detector_detail", args=["helpdesk", name]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_lists_every_detector(observer: Client, project: Project) -> None:
    the_vpn_run(project)

    page = observer.get(reverse("analysis:detector_list", args=["helpdesk"])).content.decode()

    for detector in all_detectors():
        assert f'href="/p/helpdesk/detectors/{detector.name}/"' in page
        assert escape(detector.summary) in page
    assert '?tab=all&amp;finding=empty_result">1</a>' in page


@pytest.mark.parametrize("name", [detector.name for detector in all_detectors()])
def test_each_detector_has_its_page(observer: Client, name: str) -> None:
    page = page_of(observer, name)

    detector = next(each for each in all_detectors() if each.name == name)
    for text in (detector.title, detector.stays_silent, detector.cause, detector.fix):
        assert escape(text[0].upper() + text[1:]) in page
    assert f"version {detector.version}, in files and the API <code>{name}</code>" in page


def test_an_unknown_detector_is_not_found(observer: Client) -> None:
    address = reverse("analysis:detector_detail", args=["helpdesk", "no_such_rule"])

    assert observer.get(address).status_code == 404


def test_tells_the_limits_that_apply_here(observer: Client, project: Project) -> None:
    LimitSet.objects.create(project=project, values={"rounds": 33, "repeat_mode": "consecutive"})
    LimitSet.objects.create(project=project, agent=masked_text("billing"), values={"rounds": 44})
    LimitSet.objects.create(project=project, tool=masked_text("wait"), values={"polled": True})
    LimitSet.objects.create(project=project, tool=masked_text("get_*"), values={"repeat_limit": 4})

    assert "rounds: 33, as set" in page_of(observer, "round_limit_passed")
    assert "rounds: 44, as set" in page_of(observer, "round_limit_passed", agent="billing")
    repeats = page_of(observer, "repeated_call")
    assert "same call with the same answer: up to twice, counted in a row" in repeats
    assert "polled, never counted: wait" in repeats
    assert "get_*: up to 4 times" in repeats
    assert "It goes by none that can be set." in page_of(observer, "cut_off_reply")


def test_tells_what_was_learned(observer: Client, project: Project) -> None:
    for number in range(20):
        record = a_run([call("rm", {"n": 1}, "")] * 2, "Done.", run_id=f"r{number}")
        a_shown_run(record, project)
    baseline_learn(project=project, agent="")

    assert "silent by nature, as learned: rm" in page_of(observer, "empty_result")
    assert "as the run says, else 4, learned" in page_of(observer, "round_limit_passed")


def test_findings_link_to_their_detector(observer: Client, project: Project) -> None:
    run = the_vpn_run(project)

    page = observer.get(reverse("analysis:run_detail", args=["helpdesk", run.pk])).content.decode()

    shown = {finding.detector for finding in run.findings.filter(round__in=(3, 7, 40, 52))}
    missing = [name for name in shown if f"/p/helpdesk/detectors/{name}/?agent=" not in page]
    assert shown
    assert missing == []


def test_only_who_may_set_limits_is_shown_the_way(client: Client, project: Project) -> None:
    for role, shown in ((Role.LEAD, False), (Role.ENGINEER, True)):
        client.force_login(a_member(project, role))

        assert ("Set limits" in page_of(client, "round_limit_passed")) is shown
