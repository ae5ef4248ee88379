"""A project in which something of everything has happened, and the addresses of all its pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.urls.converters import UUIDConverter

from agentdesk.pipeline import delivery_process
from analysis.alerts.channels import channel_add, rule_add
from analysis.models import (
    AlertKind,
    Annotation,
    AnnotationKind,
    ChannelKind,
    Job,
    JobKind,
    JobState,
    LimitSet,
)
from analysis.services.cases import case_edit
from tests.analysis.case_pages.made import VPN, a_kept_result, a_test_case
from tests.builders import a_run, call
from tests.factories import a_key, a_member, native_rounds
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import DeliveryKind, Role
from transcripts.maskers import typed_masker
from transcripts.models import Delivery, Project, User
from transcripts.selectors.pointers import pointers_of
from transcripts.services.deliveries import delivery_accept
from transcripts.services.invitations import invitation_create

# What a page is about, where that stands in its query.
ASKED = {
    "analysis:case_replay_text": "?part=reply",
    "analysis:run_changes": "?first=8&last=39",
    "analysis:run_find": "?q=vpn",
    "analysis:run_list": "?tab=all",
    "transcripts:round_text": "?part=reply",
}
# Addresses that show a page only to who is not signed in, or on the way to somewhere else.
ON_THE_WAY = {"account_login", "account_logout", "single_sign_on_login", "single_sign_on_callback"}


def a_lived_in_project(project: Project, user: User) -> dict[str, Any]:
    """Fill it; returns what stands in its addresses, by the name of the argument and of the page.

    `project` is one of `user`, an administrator.
    """
    run = the_vpn_run(project)
    handed = [[call("get_rights", {"folder": "payroll"}, "only the owner may give it")]]
    handed += [[call("escalate_to_it_team", {"reason": "no right"}, "queued")]]
    a_shown_run(a_run(*handed, run_id="t-1", ticket_id="IT-20962", agent="helpdesk"), project)
    live = a_run([call()], live=True, run_id="t-2", ticket_id="IT-20970", agent="helpdesk")
    a_shown_run(live, project, live=True)
    case = a_test_case(run, author=user)
    a_kept_result(case, 92, 100, code="c1", prompt="p1")
    replay = a_kept_result(case, 40, 100, code="c2", prompt="p1").replays.get()
    case_edit(case=case, definition={**VPN, "title": "VPN drops every few minutes"})
    good = json.dumps({"run_id": "from-a-file", "rounds": native_rounds()}).encode()
    waits = _delivery(project, b'{"run_id": "r", "rounds": [{"round": 0}]}')
    _delivery(project, good)
    delivery_accept(
        project=project, kind=DeliveryKind.FILE, content=good, file_name="run.json", held=True,
        user=user,
    )  # fmt: skip
    _settings(project, user)
    job = Job.objects.create(
        project=project, kind=JobKind.READ_AGAIN, total=4, read=1, state=JobState.WAITING
    )
    annotation = Annotation.objects.create(
        project=project, run=run, kind=AnnotationKind.ROOT_CAUSE, cause="hidden_tool_error",
        author=user, text=typed_masker(project).text("The wrapper swallowed a **403**."), round=3,
        pointer=pointers_of(run=run, numbers=[3])[3],
    )  # fmt: skip
    _, token = invitation_create(
        project=project, email="guest@desk.example", role=Role.LEAD, user=user
    )
    return {
        "pk": run.pk,
        "number": 1,
        "round": 3,
        "name": "empty_result",
        "revision": 1,
        "job": job.pk,
        "delivery": waits.pk,
        "token": token,
        "annotation": annotation.pk,
        "replay": replay.pk,
        "side": "replayed",
    }


def _settings(project: Project, user: User) -> None:
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Leads", address="lead@desk.example",
        user=user,
    )  # fmt: skip
    rule_add(project=project, channel=channel, kind=AlertKind.INCIDENT_NEW)
    a_key(project)
    a_member(project, Role.LEAD)
    agent = typed_masker(project).text("helpdesk")
    LimitSet.objects.create(project=project, agent=agent, values={"rounds": 12})


def _delivery(project: Project, content: bytes) -> Delivery:
    delivery, _ = delivery_accept(project=project, kind=DeliveryKind.FILE, content=content)
    delivery_process(delivery.pk)
    delivery.refresh_from_db()
    return delivery


def page_addresses(client: Client, project: Project, known: dict[str, Any]) -> Iterator[str]:
    """Every address of the resolver at which `client` gets a whole page, with what it asks for."""
    for name, pattern in _patterns(get_resolver().url_patterns):
        if name in ON_THE_WAY:
            continue
        values = {
            each: known["delivery"]
            if isinstance(kind, UUIDConverter)
            else _value(name, each, known)
            for each, kind in pattern.pattern.converters.items()
        }
        if ":" in name:
            values["slug"] = project.slug
        address = reverse(name, kwargs=values) + ASKED.get(name, "")
        answer = client.get(address)
        whole = answer.headers["Content-Type"].startswith("text/html") and not answer.streaming
        if answer.status_code == 200 and whole and b"<!doctype html>" in answer.content[:99]:
            yield address


def _patterns(listed: list[Any], space: str = "") -> Iterator[tuple[str, URLPattern]]:
    for each in listed:
        if isinstance(each, URLPattern) and each.name:
            yield (f"{space}:{each.name}" if space else each.name), each
        elif isinstance(each, URLResolver) and each.namespace not in ("api-1.0.0", "api"):
            yield from _patterns(each.url_patterns, each.namespace or space)


def _value(name: str, argument: str, known: dict[str, Any]) -> Any:
    about = {"case_replay": "replay", "job": "job", "run_job": "job", "annotation": "annotation"}
    part = name.rpartition(":")[2]
    for start, key in about.items():
        if argument == "pk" and part.startswith(start):
            return known[key]
    if argument == "number" and part.startswith(("round_", "call_")):
        return known["round"]
    return known.get(argument, 1)
