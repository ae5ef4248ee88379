"""Who gets which page: one table for every address below /p/<slug>/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from tests.factories import a_member, a_project
from tests.kept_rows import made_once
from tests.page_runs import the_vpn_run
from transcripts.choices import Role
from transcripts.models import Membership, Project, Run

pytestmark = pytest.mark.django_db
OBSERVER, LEAD, ENGINEER, ADMIN = Role.OBSERVER, Role.LEAD, Role.ENGINEER, Role.ADMIN

# The least role that each page takes.
PAGES = {
    "analysis:run_list": OBSERVER,
    "analysis:run_detail": OBSERVER,
    "analysis:run_findings": OBSERVER,
    "analysis:run_live": OBSERVER,
    "analysis:run_part": LEAD,
    "analysis:run_changes": LEAD,
    "analysis:run_find": LEAD,
    "analysis:run_annotate": LEAD,
    "analysis:annotation_list": LEAD,
    "analysis:tool_list": OBSERVER,
    "analysis:insights": OBSERVER,
    "analysis:live_list": OBSERVER,
    "analysis:mention_list": LEAD,
    "analysis:case_list": OBSERVER,
    "analysis:case_make": ENGINEER,
    "analysis:call_test": LEAD,
    "analysis:run_compare": LEAD,
    "analysis:hand_off_list": OBSERVER,
    "analysis:alerts": ADMIN,
    "analysis:incident_list": OBSERVER,
    "analysis:incident_detail": OBSERVER,
    "analysis:incident_events": OBSERVER,
    "analysis:incident_annotate": LEAD,
    "analysis:detector_list": OBSERVER,
    "analysis:detector_detail": OBSERVER,
    "analysis:stop_reasons": OBSERVER,
    "analysis:run_keeping": ADMIN,
    "analysis:retention": ADMIN,
    "analysis:ticket_erase": ADMIN,
    "analysis:limits": ENGINEER,
    "analysis:limits_file": ENGINEER,
    "transcripts:send_runs": OBSERVER,
    "transcripts:send_arrived": OBSERVER,
    "transcripts:upload": ENGINEER,
    "transcripts:run_export": ENGINEER,
    "transcripts:run_readers": ADMIN,
    "transcripts:run_masked": LEAD,
    "analysis:masking": ADMIN,
    "analysis:mask_rule": ADMIN,
    "transcripts:round_input": LEAD,
    "transcripts:round_text": LEAD,
    "transcripts:round_calls": LEAD,
    "transcripts:member_list": ADMIN,
    "transcripts:key_list": ADMIN,
    "transcripts:delivery_list": ADMIN,
    "transcripts:access_list": ADMIN,
    "transcripts:access_export": ADMIN,
}
# Addresses that take a POST alone, and those of one delivery, which have tests of their own.
CHANGES = {
    "analysis:annotation_gone": LEAD,
    "transcripts:change_back": OBSERVER,
    "analysis:case_accept": ENGINEER,
    "analysis:case_delete": ENGINEER,
    "analysis:incident_change": LEAD,
    "analysis:hand_off_change": LEAD,
    "analysis:alert_channel_change": ADMIN,
    "analysis:alert_rule_remove": ADMIN,
    "analysis:job_stop": ENGINEER,
    "analysis:mask_rule_delete": ADMIN,
    "analysis:not_secret_delete": ADMIN,
    "transcripts:member_change": ADMIN,
    "transcripts:member_remove": ADMIN,
    "transcripts:member_password": ADMIN,
    "transcripts:member_factor": ADMIN,
    "transcripts:invitation_again": ADMIN,
    "transcripts:invitation_withdraw": ADMIN,
    "transcripts:key_revoke": ADMIN,
    "transcripts:key_rotate": ADMIN,
    "transcripts:delivery_retry": ADMIN,
    "transcripts:delivery_discard": ADMIN,
}
ELSEWHERE = {
    "transcripts:deliveries_decide": ADMIN,
    "analysis:annotation_change": LEAD,
    "analysis:examples_load": ENGINEER,
    "analysis:examples_gone": ADMIN,
    "analysis:finding_near": OBSERVER,
    "analysis:case_detail": OBSERVER,
    "analysis:case_edit": ENGINEER,
    "analysis:case_file": ENGINEER,
    "analysis:case_history": ENGINEER,
    "analysis:case_replay": LEAD,
    "analysis:case_replay_text": LEAD,
    "analysis:case_resolve": LEAD,
    "analysis:case_return": ENGINEER,
    "analysis:case_suite": ENGINEER,
    "analysis:case_upload": ENGINEER,
    "analysis:incidents_change": LEAD,
    "analysis:alert_message_change": ADMIN,
    "transcripts:delivery_detail": OBSERVER,
    "transcripts:receipts": OBSERVER,
    "transcripts:send_key": ADMIN,
    "transcripts:send_live": ENGINEER,
    "transcripts:send_test": ENGINEER,
    "transcripts:upload_store": ENGINEER,
    "transcripts:upload_discard": ENGINEER,
    "transcripts:second_factor": ADMIN,
    "analysis:job_detail": ENGINEER,
    "analysis:run_job": LEAD,
    "analysis:run_job_stop": LEAD,
    "analysis:run_selection": LEAD,
    "analysis:view_save": OBSERVER,
    "analysis:list_columns": OBSERVER,
    "analysis:view_change": OBSERVER,
    "analysis:mentions_read": LEAD,
    "analysis:runs_read_again": ENGINEER,
    "analysis:runs_mask_again": ADMIN,
    "analysis:not_secret_list": ADMIN,
}
# Pages of a project as such, beside those of one run.
OF_THE_PROJECT = (
    "mention_list",
    "tool_list",
    "insights",
    "live_list",
    "case_list",
    "run_list",
    "send",
    "upload",
    "member_list",
    "key_list",
    "delivery_list",
    "access",
    "incident_list",
    "hand_off_list",
    "alerts",
    "detector_list",
    "stop_reasons",
    "limits",
    "retention",
    "ticket_erase",
    "mask",
)
ROLES = list(Role)


@pytest.fixture(scope="module")
def vpn_run(django_db_setup: None, django_db_blocker: Any) -> Iterator[Run]:
    yield from made_once(django_db_blocker, lambda: the_vpn_run(a_project("helpdesk")))


@pytest.fixture
def project(vpn_run: Run) -> Project:
    return vpn_run.project


def address_of(name: str, project: Project, run: Run | None) -> str:
    short = name.split(":")[1]
    if short.startswith(OF_THE_PROJECT):
        return reverse(name, args=[project.slug])
    if short.startswith("incident_"):
        return reverse(name, args=[project.slug, 1])
    if short == "detector_detail":
        return reverse(name, args=[project.slug, "empty_result"])
    assert run is not None
    if short.startswith("round_") or short == "call_test":
        return reverse(name, args=[project.slug, run.pk, 3]) + "?part=reply"
    return reverse(name, args=[project.slug, run.pk]) + "?first=8&last=39&q=vpn&seen=1"


def test_the_table_names_every_page_of_a_project() -> None:
    named = set()
    for namespace in ("analysis", "transcripts"):
        resolver = get_resolver().namespace_dict[namespace][1]
        named |= {f"{namespace}:{key}" for key in resolver.reverse_dict if isinstance(key, str)}

    assert named == PAGES.keys() | CHANGES.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("name", PAGES)
def test_each_page_has_its_least_role(
    client: Client, vpn_run: Run, project: Project, name: str
) -> None:
    address = address_of(name, project, vpn_run)
    answers = {}

    for role in ROLES:
        client.force_login(a_member(project, role))
        answers[role] = client.get(address, headers={"HX-Request": "true"}).status_code

    least = ROLES.index(PAGES[name])
    assert answers == {role: 403 if at < least else 200 for at, role in enumerate(ROLES)}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_has_its_least_role(client: Client, project: Project, name: str) -> None:
    pk = uuid4() if "delivery" in name else 999_999
    address = reverse(name, args=[project.slug, pk])

    least = ROLES.index(CHANGES[name])
    for role in ROLES[:least]:
        client.force_login(a_member(project, role))
        assert client.post(address).status_code == 403
    client.force_login(a_member(project, CHANGES[name]))
    assert client.post(address).status_code == 404
    assert client.get(address).status_code == 405


@pytest.mark.parametrize("name", [*PAGES, *CHANGES])
def test_nobody_learns_of_a_project_of_others(
    client: Client, vpn_run: Run, project: Project, name: str
) -> None:
    client.force_login(a_member(a_project("other"), ADMIN))
    if name in PAGES:
        address = address_of(name, project, vpn_run)
    else:
        address = reverse(name, args=[project.slug, uuid4() if "delivery" in name else 1])

    answer = client.post(address) if name in CHANGES else client.get(address)

    assert answer.status_code == 404
    assert project.name not in answer.content.decode()


@pytest.mark.parametrize("name", PAGES)
def test_who_is_not_signed_in_is_asked_to(
    client: Client, vpn_run: Run, project: Project, name: str
) -> None:
    answer = client.get(address_of(name, project, vpn_run))

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/sign-in/?next=/p/helpdesk/")


@pytest.mark.parametrize("name", [n for n in PAGES if "run_" in n or "round_" in n])
def test_a_run_of_another_project_is_not_found(
    client: Client, vpn_run: Run, project: Project, name: str
) -> None:
    if name == "analysis:run_list":
        return
    client.force_login(a_member(project, ADMIN))

    assert client.get(address_of(name, project, the_vpn_run(a_project()))).status_code == 404


@pytest.mark.parametrize(
    "name", ["analysis:run_part", "analysis:run_changes", "analysis:run_find",
             "transcripts:round_input", "transcripts:round_text", "transcripts:round_calls",
             "transcripts:run_export"],
)  # fmt: skip
def test_a_restricted_run_is_for_named_readers(
    client: Client, vpn_run: Run, project: Project, name: str
) -> None:
    run = vpn_run
    Run.objects.filter(pk=run.pk).update(restricted=True)
    person = a_member(project, ADMIN)
    client.force_login(person)
    headers = {"HX-Request": "true"}

    refused = client.get(address_of(name, project, run), headers=headers)
    Membership.objects.filter(user=person).update(restricted=True)
    allowed = client.get(address_of(name, project, run), headers=headers)

    assert (refused.status_code, allowed.status_code) == (403, 200)
    assert b"restricted to readers who are named" in refused.content
