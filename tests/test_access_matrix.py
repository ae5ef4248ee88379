"""Who gets what answer: every address of the URL resolver, every kind of person and key, runs of
one's own project, of another one, and restricted ones.

A new address fails `test_the_table_names_every_address` until it has its line here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations, product
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from analysis.alerts.channels import channel_add, rule_add
from analysis.jobs import job_start
from analysis.models import (
    AlertKind,
    AlertMessage,
    Annotation,
    AnnotationKind,
    ChannelKind,
    Incident,
    JobKind,
    SavedView,
)
from tests.analysis.case_pages.made import a_kept_result, a_test_case
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_member, a_project, a_user
from tests.kept_rows import made_once
from tests.page_runs import a_shown_run
from transcripts.access import ROLE_MAY, May
from transcripts.choices import AccessAction, DeliveryKind, DeliveryState, KeyScope, Role
from transcripts.maskers import typed_masker
from transcripts.masking import masked_text
from transcripts.models import (
    AccessEntry,
    ApiKey,
    Delivery,
    MaskRule,
    Membership,
    NotSecret,
    Project,
    Run,
    User,
)
from transcripts.record import InputChange, Message, Placed
from transcripts.services.deliveries import delivery_accept
from transcripts.services.invitations import invitation_create

pytestmark = pytest.mark.django_db

# Stands in every text of a transcript, and nowhere else.
WORDS = "zanzibar-transcript-words"
READ, FIND, EXPORT = AccessAction.READ, AccessAction.FIND, AccessAction.EXPORT
SEND_SCOPE, READ_SCOPE = KeyScope.INGEST, KeyScope.READ
RESULTS_SCOPE = KeyScope.RESULTS


class Open(Enum):
    """Addresses that need no role."""

    TO_ALL = "anyone"
    SIGNED_IN = "any account"


@dataclass(frozen=True)
class Needs:
    """What an address takes. `what`: a right of the role table, key scopes, or `Open`.

    `reads`: it shows a transcript, so that restricted runs need a name, and leaves this audit line.
    `names`: it shows none, and restricted runs need a name all the same.
    `ok`: the status for who may. `swap`: asked by htmx, for a part of a page.
    """

    what: May | Open | tuple[KeyScope, ...]
    method: str = "get"
    ok: int = 200
    reads: AccessAction | None = None
    names: bool = False
    query: str = ""
    swap: bool = False
    form: dict[str, str] = field(default_factory=dict)
    body: Any = None


P = "p/<slug:slug>/"
RUN = f"{P}runs/<int:pk>/"
ROUND = f"{RUN}rounds/<int:number>/"
INCIDENT = f"{P}incidents/<int:number>/"
API = "api/v1/"
API_RUN = f"{API}runs/<path:run_id>"
SEE, TEXT, TRIAGE = May.SEE_RUNS, May.READ_TRANSCRIPTS, May.TRIAGE
ENGINEER, ADMIN = May.ENGINEER, May.ADMINISTER
A_ROUND = {"round": 1, "stop": "finished", "reply": "Done."}
SPANS: dict[str, list[Any]] = {"resourceSpans": []}
NO_RULES = {"rule-TOTAL_FORMS": "0", "rule-INITIAL_FORMS": "0"}

PAGES: dict[str, list[Needs]] = {
    f"{P}runs/": [Needs(SEE)],
    f"{P}runs/selected/": [Needs(TRIAGE, "post", 302)],
    f"{P}runs/jobs/<int:pk>/": [Needs(TRIAGE)],
    f"{P}runs/jobs/<int:pk>/cancel/": [Needs(TRIAGE, "post", 302)],
    f"{P}runs/views/": [Needs(SEE, "post", 302, form={"name": "v"})],
    # Somebody else's view, which is shared; one changes one's own in any role.
    f"{P}runs/views/<int:pk>/": [Needs(ADMIN, "post", 302, form={"name": "v"})],
    f"{P}runs/columns/": [Needs(SEE, "post", 302)],
    RUN: [Needs(SEE, reads=READ)],
    f"{RUN}part/": [Needs(TEXT, reads=READ, query="first=1&last=3", swap=True)],
    f"{RUN}findings/near/": [Needs(SEE, query="after=1")],
    f"{RUN}changes/": [Needs(TEXT, reads=READ, query="first=1&last=3")],
    f"{RUN}findings/": [Needs(SEE, reads=READ)],
    f"{RUN}live/": [Needs(SEE, query="seen=1")],
    f"{RUN}find/": [Needs(TEXT, reads=FIND, query="q=zanzibar")],
    f"{RUN}export/": [Needs(ENGINEER, reads=EXPORT)],
    f"{RUN}masked/": [Needs(TEXT, reads=READ)],
    f"{RUN}readers/": [Needs(ADMIN)],
    f"{ROUND}input/": [Needs(TEXT, reads=READ)],
    f"{ROUND}text/": [Needs(TEXT, reads=READ, query="part=reply")],
    f"{ROUND}calls/": [Needs(TEXT, reads=READ)],
    f"{RUN}annotate/": [
        Needs(TRIAGE, names=True),
        Needs(TRIAGE, "post", 302, names=True, form={"kind": "note", "text": "Look at this."}),
    ],
    f"{ROUND}test/": [
        Needs(TRIAGE, reads=READ),
        Needs(TRIAGE, "post", 302, names=True, form={"answer": "no permission"}),
    ],
    f"{RUN}compare/": [Needs(TEXT, reads=READ)],
    f"{RUN}annotations/": [Needs(TEXT, reads=READ)],
    # It is somebody else's: only who wrote it may change it.
    f"{P}annotations/<int:pk>/edit/": [
        Needs(TRIAGE, ok=403),
        Needs(TRIAGE, "post", 403, form={"text": "Other words."}),
    ],
    f"{P}annotations/<int:pk>/remove/": [Needs(ADMIN, "post", 302)],
    f"{P}tools/": [Needs(SEE)],
    f"{P}insights/": [Needs(SEE)],
    f"{P}live/": [Needs(SEE)],
    f"{P}incidents/<int:number>/annotate/": [
        Needs(TRIAGE),
        Needs(TRIAGE, "post", 302, form={"kind": "note", "text": "Whose is it?"}),
    ],
    f"{P}mentions/": [Needs(TEXT)],
    f"{P}mentions/read/": [Needs(TEXT, "post", 302)],
    # One's own changes alone, see tests/analysis/test_undo.py; nobody has made any here.
    f"{P}changes/<int:pk>/undo/": [Needs(SEE, "post", 404)],
    f"{P}incidents/": [Needs(SEE)],
    f"{P}incidents/change/": [Needs(May.TRIAGE, "post", 302, form={"number": "1"})],
    INCIDENT: [Needs(SEE, reads=READ)],
    f"{INCIDENT}change/": [Needs(May.TRIAGE, "post", 302, form={"action": "take"})],
    f"{INCIDENT}events/": [Needs(SEE)],
    f"{P}queue/": [Needs(SEE)],
    f"{P}queue/<int:pk>/": [Needs(May.TRIAGE, "post", 302, form={"action": "take"})],
    f"{P}settings/alerts/": [
        Needs(ADMIN),
        Needs(
            ADMIN,
            "post",
            200,
            form={"add": "channel", "kind": "email", "name": "Ops", "address": "ops@desk.example"},
        ),
    ],
    f"{P}settings/alerts/channels/<int:pk>/": [Needs(ADMIN, "post", 302, form={"action": "off"})],
    f"{P}settings/alerts/rules/<int:pk>/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/alerts/messages/<uuid:pk>/": [Needs(ADMIN, "post", 302)],
    f"{P}detectors/": [Needs(SEE)],
    f"{P}detectors/<slug:name>/": [Needs(SEE)],
    f"{P}stop-reasons/": [Needs(SEE)],
    f"{P}send/": [Needs(SEE)],
    f"{P}send/arrived/": [Needs(SEE, swap=True)],
    f"{P}send/key/": [Needs(ADMIN, "post", 200)],
    f"{P}send/live/": [Needs(ENGINEER, "post", 302)],
    f"{P}send/test/": [Needs(ENGINEER, "post", 302)],
    f"{P}send/files/": [Needs(ENGINEER), Needs(ENGINEER, "post", 422)],
    f"{P}send/files/store/": [Needs(ENGINEER, "post", 302)],
    f"{P}send/files/discard/": [Needs(ENGINEER, "post", 302)],
    f"{P}send/receipts/": [Needs(SEE, ok=302)],
    f"{P}settings/limits/": [Needs(ENGINEER), Needs(ENGINEER, "post", 302, form={"rounds": "9"})],
    f"{P}settings/limits/file/": [Needs(ENGINEER), Needs(ENGINEER, "post", 302)],
    f"{P}settings/masking/": [
        Needs(ADMIN),
        Needs(ADMIN, "post", 302, form={"email": "on"}),
        Needs(ADMIN, "post", 200, form={"email": "on", "action": "try"}),
    ],
    f"{P}settings/masking/again/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/masking/rule/": [
        Needs(ADMIN),
        Needs(
            ADMIN,
            "post",
            302,
            form={
                "name": "badge",
                "family": "badge",
                "pattern": r"badge (\d{5})",
                "must": "badge 12345",
                "must_not": "page 12345",
            },
        ),
    ],
    f"{P}settings/masking/rule/<int:pk>/remove/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/masking/no-secrets/": [
        Needs(ADMIN, "post", 302, form={"value": "orchid-4417", "why": "the demo's"})
    ],
    f"{P}settings/masking/no-secrets/<int:pk>/remove/": [Needs(ADMIN, "post", 302)],
    f"{P}send/examples/": [Needs(ENGINEER, "post", 302)],
    f"{P}settings/examples/remove/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/read-again/": [Needs(ENGINEER, "post", 302)],
    f"{P}settings/jobs/<int:pk>/": [Needs(ENGINEER)],
    f"{P}settings/jobs/<int:pk>/cancel/": [Needs(ENGINEER, "post", 302)],
    f"{P}settings/members/": [
        Needs(ADMIN),
        Needs(ADMIN, "post", 200, form={"email": "new@desk.example", "role": "lead"}),
    ],
    f"{P}settings/members/<int:pk>/": [Needs(ADMIN, "post", 302, form={"role": "lead"})],
    f"{P}settings/members/<int:pk>/remove/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/members/<int:pk>/password/": [Needs(ADMIN, "post")],
    f"{P}settings/members/<int:pk>/second-factor/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/second-factor/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/invitations/<int:pk>/again/": [Needs(ADMIN, "post")],
    f"{P}settings/invitations/<int:pk>/withdraw/": [Needs(ADMIN, "post", 302)],
    f"{P}settings/keys/<int:pk>/rotate/": [Needs(ADMIN, "post", form={"hours": "24"})],
    f"{P}settings/keys/": [
        Needs(ADMIN),
        Needs(ADMIN, "post", 200, form={"name": "k", "scopes": "read"}),
    ],
    f"{P}settings/keys/<int:pk>/revoke/": [Needs(ADMIN, "post", 302)],
    f"{RUN}keeping/": [
        Needs(ADMIN),
        Needs(ADMIN, "post", 302, form={"action": "hold", "why": "court"}),
    ],
    f"{P}settings/retention/": [
        Needs(ADMIN),
        Needs(ADMIN, "post", 302, form={"action": "save", **NO_RULES}),
    ],
    f"{P}settings/retention/erase/": [
        Needs(ADMIN, query="ticket=T-1"),
        Needs(ADMIN, "post", 422, form={"ticket": "T-1", "confirm": "T-2"}),
    ],
    f"{P}settings/access/": [Needs(ADMIN)],
    f"{P}settings/access/export/": [Needs(ADMIN)],
    f"{P}deliveries/": [Needs(ADMIN)],
    f"{P}deliveries/decide/": [Needs(ADMIN, "post", 302, form={"decision": "retry"})],
    # Or who sent it; see tests/transcripts/views/test_upload.py.
    f"{P}deliveries/<uuid:pk>/": [Needs(ADMIN)],
    f"{P}deliveries/<uuid:pk>/retry/": [Needs(ADMIN, "post", 302)],
    f"{P}deliveries/<uuid:pk>/discard/": [Needs(ADMIN, "post", 302)],
}
CASE = f"{P}cases/<int:number>/"
PAGES |= {
    f"{RUN}case/": [Needs(ENGINEER, reads=READ), Needs(ENGINEER, "post", 422, reads=READ)],
    f"{P}cases/": [Needs(SEE)],
    f"{P}cases/suite/": [Needs(ENGINEER, reads=EXPORT)],
    f"{P}cases/upload/": [Needs(ENGINEER, "post", 302)],
    CASE: [Needs(SEE, reads=READ)],
    f"{CASE}edit/": [Needs(ENGINEER, reads=READ), Needs(ENGINEER, "post", 422, reads=READ)],
    f"{CASE}file/": [Needs(ENGINEER, reads=EXPORT)],
    f"{CASE}accept/": [Needs(ENGINEER, "post", 302)],
    f"{CASE}resolve/": [Needs(May.TRIAGE, "post", 302)],
    f"{CASE}delete/": [Needs(ENGINEER, "post", 302)],
    f"{CASE}history/": [Needs(ENGINEER, reads=READ)],
    f"{CASE}history/<int:revision>/": [Needs(ENGINEER, "post", 302)],
    f"{CASE}replays/<int:pk>/": [Needs(TEXT, reads=READ)],
    f"{CASE}replays/<int:pk>/<str:side>/<int:round>/": [
        Needs(TEXT, reads=READ, query="part=reply")
    ],
}
# A run's title is the first line of its ticket, and its verdict may quote a few words. Lists show
# both to who may read the run, without a line: a log of every glance at a list would bury readings.
SHOWS_TITLES = {f"{API_RUN}/case", f"{API}cases", f"{P}cases/", f"{P}runs/", f"{API}runs", API_RUN}
KEYED: dict[str, list[Needs]] = {
    "metrics": [Needs((READ_SCOPE,))],
    "v1/traces": [Needs((SEND_SCOPE,), "post", 200, body=SPANS)],
    f"{API}traces": [Needs((SEND_SCOPE,), "post", 200, body=SPANS)],
    f"{API}runs": [
        Needs((READ_SCOPE,)),
        Needs((SEND_SCOPE,), "post", 202, body={"run_id": "new", "rounds": [A_ROUND]}),
    ],
    f"{API}import": [
        Needs((SEND_SCOPE,), "post", 202, body={"run_id": "new", "rounds": [A_ROUND]})
    ],
    API_RUN: [Needs((READ_SCOPE,))],
    f"{API_RUN}/findings": [Needs((READ_SCOPE,), reads=READ)],
    f"{API_RUN}/rounds": [
        Needs((READ_SCOPE,), reads=READ),
        Needs((SEND_SCOPE,), "post", 202, body={"rounds": [A_ROUND]}),
    ],
    f"{API_RUN}/end": [Needs((SEND_SCOPE,), "post", 202, body={})],
    f"{API_RUN}/export": [Needs((READ_SCOPE,), reads=EXPORT)],
    f"{API}incidents": [Needs((READ_SCOPE,))],
    f"{API}incidents/<number>": [Needs((READ_SCOPE,))],
    f"{API}deliveries/<uuidstr:receipt>": [Needs((SEND_SCOPE, READ_SCOPE))],
}
KEYED |= {
    f"{API_RUN}/case": [Needs((RESULTS_SCOPE,), "post", 200)],
    f"{API}cases": [Needs((READ_SCOPE,)), Needs((RESULTS_SCOPE,), "post", 422, body={})],
    f"{API}cases.zip": [Needs((READ_SCOPE,), reads=EXPORT)],
    f"{API}cases/<case_id>": [Needs((READ_SCOPE,), reads=EXPORT)],
    f"{API}cases/<case_id>/results": [Needs((RESULTS_SCOPE,), "post", 422, body={})],
}
REST: dict[str, list[Needs]] = {
    "": [Needs(Open.SIGNED_IN, ok=302)],
    "healthz": [Needs(Open.TO_ALL)],
    "theme/": [Needs(Open.TO_ALL, "post", 302, form={"theme": "dark"})],
    "sign-in/": [Needs(Open.TO_ALL)],
    # There is nobody whose code is waited for, and no provider is set up.
    "sign-in/code/": [Needs(Open.TO_ALL, ok=302)],
    "sign-in/with/": [Needs(Open.TO_ALL, ok=404)],
    "sign-in/with/back/": [Needs(Open.TO_ALL, ok=404)],
    "sign-in/with/cancelled/": [Needs(Open.TO_ALL, ok=302)],
    "sign-in/inactive/": [Needs(Open.TO_ALL)],
    "sign-in/again/": [Needs(Open.SIGNED_IN)],
    "sign-in/again/code/": [Needs(Open.SIGNED_IN)],
    "sign-out/": [Needs(Open.TO_ALL, "post", 302)],
    "invitation/<str:token>/": [Needs(Open.TO_ALL, ok=404), Needs(Open.TO_ALL, "post", 404)],
    "password/forgotten/": [Needs(Open.TO_ALL)],
    "password/<str:uidb36>/<str:key>/": [Needs(Open.TO_ALL)],
    "account/": [Needs(Open.SIGNED_IN), Needs(Open.SIGNED_IN, "post", form={"name": "x"})],
    "account/address/": [Needs(Open.SIGNED_IN), Needs(Open.SIGNED_IN, "post")],
    "account/address/<str:token>/": [Needs(Open.SIGNED_IN, ok=410)],
    "account/sessions/<int:pk>/end/": [Needs(Open.SIGNED_IN, "post", ok=404)],
    "account/password/": [
        Needs(Open.SIGNED_IN),
        Needs(Open.SIGNED_IN, "post", form={"oldpassword": "x"}),
    ],
    "account/password/set/": [Needs(Open.SIGNED_IN)],
    "account/second-factor/": [Needs(Open.SIGNED_IN)],
    "account/second-factor/off/": [Needs(Open.SIGNED_IN, ok=404)],
    "account/recovery-codes/": [Needs(Open.SIGNED_IN, ok=404)],
    "account/recovery-codes/new/": [Needs(Open.SIGNED_IN)],
    "account/sessions/": [Needs(Open.SIGNED_IN), Needs(Open.SIGNED_IN, "post")],
    f"{API}openapi.json": [Needs(Open.TO_ALL)],
    f"{API}docs": [Needs(Open.TO_ALL)],
    API: [Needs(Open.TO_ALL, ok=404)],
    f"{API}<path:rest>": [Needs(Open.TO_ALL, ok=404)],
}


def all_addresses() -> set[str]:
    def below(patterns: Any, before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from below(pattern.url_patterns, route)
            else:
                assert isinstance(pattern, URLPattern)
                yield route

    return set(below(get_resolver().url_patterns, ""))


def lines(table: dict[str, list[Needs]]) -> list[Any]:
    """The table's entries as test cases; each is an address and what one method of it needs."""
    return [
        pytest.param(route, needs, id=f"{needs.method} /{route}")
        for route, all_needs in table.items()
        for needs in all_needs
    ]


class World:
    """Two projects with runs alike, and one address of each for every route."""

    def __init__(self) -> None:
        # A name that no random token can hold.
        self.own, self.other = a_project("own", name="Own project"), a_project("other")
        self.run = a_told_run(self.own)
        self.restricted = a_told_run(self.own, restricted=True)
        self.foreign = a_told_run(self.other)
        self.victim = {
            project.pk: Membership.objects.get(user=a_member(project), project=project)
            for project in (self.own, self.other)
        }
        self.keys = {project.pk: a_key(project)[0] for project in (self.own, self.other)}
        self.invited = {
            project.pk: invitation_create(
                project=project, email="guest@desk.example", role=Role.LEAD, user=None
            )[0]
            for project in (self.own, self.other)
        }
        self.jobs_over_chosen = {
            project.pk: job_start(
                project=project, kind=JobKind.ASSIGN, wanted={}, total=1, user=None
            )
            for project in (self.own, self.other)
        }
        self.jobs = {
            project.pk: job_start(
                project=project, kind=JobKind.READ_AGAIN, wanted={}, total=1, user=None
            )
            for project in (self.own, self.other)
        }
        self.annotations = {
            run.project_id: Annotation.objects.create(
                project=run.project, run=run, kind=AnnotationKind.NOTE, author=a_user()
            )
            for run in (self.run, self.foreign)
        }
        a_test_case(self.run)
        # Another number, so that one of another project is not one's own.
        self.cases = {self.own.pk: "1", self.other.pk: "2"}
        a_test_case(self.foreign), a_test_case(self.foreign)
        self.replays = {
            run.project_id: a_kept_result(run.cases.latest("number")).replays.get()
            for run in (self.run, self.foreign)
        }
        self.alerts = {project.pk: an_alert(project) for project in (self.own, self.other)}
        self.incidents = {self.own.pk: "1", self.other.pk: "8"}
        Incident.objects.filter(project=self.other, number=1).update(number=8)
        self.rules = {project.pk: a_rule(project) for project in (self.own, self.other)}
        self.no_secrets = {
            project.pk: NotSecret.objects.create(project=project, digest=b"d", shown="typed")
            for project in (self.own, self.other)
        }
        self.views = {
            project.pk: SavedView.objects.create(project=project, shared=True)
            for project in (self.own, self.other)
        }
        self.deliveries = {project.pk: a_quarantined(project) for project in (self.own, self.other)}

    def address(self, route: str, needs: Needs, run: Run, *, below: Project | None = None) -> str:
        """The route with the ids of `run` and of what its project has; `below` names a project."""
        project: Project = run.project
        ids = {
            "members/<int:pk>": f"members/{self.victim[project.pk].pk}",
            "keys/<int:pk>": f"keys/{self.keys[project.pk].pk}",
            "annotations/<int:pk>": f"annotations/{self.annotations[project.pk].pk}",
            "invitations/<int:pk>": f"invitations/{self.invited[project.pk].pk}",
            "views/<int:pk>": f"views/{self.views[project.pk].pk}",
            "runs/jobs/<int:pk>": f"runs/jobs/{self.jobs_over_chosen[project.pk].pk}",
            "jobs/<int:pk>": f"jobs/{self.jobs[project.pk].pk}",
            "rule/<int:pk>": f"rule/{self.rules[project.pk].pk}",
            "no-secrets/<int:pk>": f"no-secrets/{self.no_secrets[project.pk].pk}",
            "channels/<int:pk>": f"channels/{self.alerts[project.pk].channel_id}",
            "rules/<int:pk>": f"rules/{self.alerts[project.pk].rule_id}",
            "messages/<uuid:pk>": f"messages/{self.alerts[project.pk].pk}",
            "replays/<int:pk>": f"replays/{self.replays[project.pk].pk}",
            "<str:side>/<int:round>": "replayed/1",
            "<uuid:pk>": str(self.deliveries[project.pk].pk),
            "<uuidstr:receipt>": str(self.deliveries[project.pk].pk),
            "<slug:slug>": (below or project).slug,
            "<slug:name>": "empty_result",
            "<int:pk>": str(run.pk),
            "cases/<int:number>": f"cases/{self.cases[project.pk]}",
            "<case_id>": f"CASE-{self.cases[project.pk]}",
            "incidents/<int:number>": f"incidents/{self.incidents[project.pk]}",
            "incidents/<number>": f"incidents/{self.incidents[project.pk]}",
            "<int:number>": "1",
            "<int:revision>": "1",
            "<path:run_id>": run.run_id,
            "<path:rest>": "nothing/here",
            "<str:uidb36>": "1",
            "<str:key>": "guessed-token",
            "<str:token>": "guessed-token",
        }
        path = route
        for name, value in ids.items():
            path = path.replace(name, value)
        assert "<" not in path, route
        return f"/{path}?{needs.query}"


def a_told_run(project: Project, *, restricted: bool = False) -> Run:
    """A run whose every text says `WORDS`; open or restricted."""
    ticket = Message("ticket", "user", f"Ticket: {WORDS}")
    first = a_round(
        call("look", {"for": WORDS}, ""),
        reply=f"I look. {WORDS}",
        reasoning=WORDS,
        input=InputChange((Placed("ticket", 0),)),
    )
    again = [a_round(call("look", {"for": WORDS}, f"none {WORDS}")) for _ in range(4)]
    labels = {"restricted": "hr"} if restricted else {}
    record = a_run(
        first,
        *again,
        f"Done. {WORDS}",
        run_id=f"{project.slug}/{'restricted' if restricted else 'open'}",
        messages=(ticket,),
        labels=labels,
    )
    return a_shown_run(record, project)


def a_rule(project: Project) -> MaskRule:
    pattern = masked_text("site-[a-z]{9}")
    return MaskRule.objects.create(project=project, name="site", family="site", pattern=pattern)


def an_alert(project: Project) -> AlertMessage:
    """A message that was given up, with its channel and rule."""
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Ops", address="a@b.example", user=a_user()
    )
    rule = rule_add(project=project, channel=channel, kind=AlertKind.QUARANTINE)
    return AlertMessage.objects.create(
        project=project,
        channel=channel,
        rule=rule,
        kind=rule.kind,
        subject="x",
        state="dead",
        body={"words": typed_masker(project).text("words")},
    )


def a_quarantined(project: Project) -> Delivery:
    delivery, _ = delivery_accept(project=project, kind=DeliveryKind.FILE, content=WORDS.encode())
    Delivery.objects.filter(pk=delivery.pk).update(state=DeliveryState.QUARANTINED)
    return delivery


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """One world for all: what a test changes in it is rolled back with the test."""
    yield from made_once(django_db_blocker, World)


@contextmanager
def undone() -> Iterator[None]:
    """What is done within is taken back, so that each asks the same world."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def ask(client: Client, address: str, needs: Needs, **options: Any) -> Any:
    if needs.body is not None:
        body = json.dumps(needs.body)
        return client.post(address, body, content_type="application/json", **options)
    if needs.swap:
        options["headers"] = {"HX-Request": "true"}
    return getattr(client, needs.method)(address, needs.form, **options)


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def bearer(text: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {text}"})


def page_status(needs: Needs, role: Role, *, readable: bool) -> int:
    """What a member is to be answered."""
    if needs.what not in ROLE_MAY[role]:
        return 403
    # The run page and its findings are there for all who see runs, without what they quote.
    closed = (needs.reads is not None or needs.names) and needs.what != SEE and not readable
    return 403 if closed else needs.ok


def test_the_table_names_every_address() -> None:
    assert all_addresses() == PAGES.keys() | KEYED.keys() | REST.keys()


@pytest.mark.parametrize(("route", "needs"), lines(PAGES))
def test_a_page_answers_by_the_role(world: World, route: str, needs: Needs) -> None:
    """Each role, named for restricted runs or not, on an open run and a restricted one. Where the
    transcript is shown there is an audit line with the name; where it is not, there is neither.
    """
    wrong: dict[Any, Any] = {}
    of_a_run = "runs/<int:pk>" in route
    runs = (world.run, world.restricted) if of_a_run else (world.run,)
    for role, named, run in product(Role, (False, True) if of_a_run else (False,), runs):
        person = a_member(world.own, role, restricted=named)
        readable = TEXT in ROLE_MAY[role] and (named or not run.restricted)
        with undone():
            old = set(AccessEntry.objects.values_list("pk", flat=True))
            answer = ask(signed_in(person), world.address(route, needs, run), needs)
            new = AccessEntry.objects.exclude(pk__in=old)
            told = [(line.action, line.who, line.run_pk, line.address) for line in new]
            shows = WORDS in answer.getvalue().decode(errors="replace")

        got = (answer.status_code, told if needs.reads else [], shows and not readable)
        reading = [(needs.reads, person.email, run.pk, "127.0.0.1")]
        status = page_status(needs, role, readable=readable)
        line = reading if needs.reads and status == needs.ok and readable else []
        if got != (status, line, False):
            wrong[role, named, run.run_id] = got
        if shows and not needs.reads and route not in SHOWS_TITLES:
            wrong[role, named, run.run_id, "not in the audit log"] = answer.status_code

    assert wrong == {}


@pytest.mark.parametrize(("route", "needs"), lines(PAGES))
def test_a_page_of_another_project_is_not_there(world: World, route: str, needs: Needs) -> None:
    """404, whatever role and whatever Django's own staff marks; also for ids of another project
    below one's own.
    """
    people = {
        "no role": a_user(),
        "staff": a_user(is_staff=True) if hasattr(User, "is_staff") else a_user(),
        "superuser": a_user(is_superuser=True),
        **{f"{role} elsewhere": a_member(world.other, role, restricted=True) for role in Role},
        "switched off": None,
    }
    off = people["switched off"] = a_member(world.own, Role.ADMIN)
    answers: dict[str, int] = {}
    for name, person in people.items():
        client = signed_in(person)
        if person is off:
            User.objects.filter(pk=off.pk).update(is_active=False)
        with undone():
            answer = ask(client, world.address(route, needs, world.run), needs)
        assert world.own.name not in answer.content.decode()
        answers[name] = answer.status_code
    admin = signed_in(a_member(world.own, Role.ADMIN, restricted=True))
    if "pk>" in route:
        guessed = world.address(route, needs, world.foreign, below=world.own)
        answers["id of another project"] = ask(admin, guessed, needs).status_code

    assert answers.pop("switched off") == 302
    assert set(answers.values()) == {404}, answers
    assert not AccessEntry.objects.filter(action__in=(READ, FIND, EXPORT)).exists()


@pytest.mark.parametrize(("route", "needs"), lines(PAGES))
def test_a_page_asks_to_sign_in(world: World, route: str, needs: Needs) -> None:
    """A key opens no page either."""
    _, text = a_key(world.own, *KeyScope)
    for client in (Client(), bearer(text)):
        answer = ask(client, world.address(route, needs, world.run), needs)

        assert (answer.status_code, answer.headers["Location"][:15]) == (302, "/sign-in/?next=")


@pytest.mark.parametrize(
    "route",
    [
        route
        for route, all_needs in {**PAGES, **REST}.items()
        if not route.startswith(API)
        if any(needs.method == "get" for needs in all_needs)
    ],
)
def test_a_page_answers_head_as_get(world: World, route: str) -> None:
    """Monitors and link checkers ask so."""
    needs = next(needs for needs in {**PAGES, **REST}[route] if needs.method == "get")
    client = signed_in(a_member(world.own, Role.ADMIN, user=a_user(password="right")))
    address = world.address(route, needs, world.run)
    headers = {"HX-Request": "true"} if needs.swap else {}

    got, head = client.get(address, headers=headers), client.head(address, headers=headers)

    assert (head.status_code, head.getvalue()) == (got.status_code, b"")
    assert head.status_code < 400 or head.status_code == needs.ok


@pytest.mark.parametrize(("route", "needs"), lines(KEYED))
def test_the_api_answers_by_the_key(world: World, route: str, needs: Needs) -> None:
    keys = {scopes: a_key(world.own, *scopes)[1] for scopes in subsets(KeyScope)}
    revoked, revoked_text = a_key(world.own, *KeyScope)
    ApiKey.objects.filter(pk=revoked.pk).update(revoked_at=timezone.now())
    address = world.address(route, needs, world.run)
    answers: dict[Any, int] = {}
    for scopes, text in keys.items():
        with undone():
            old = AccessEntry.objects.count()
            answer = ask(bearer(text), address, needs)
            if answer.status_code == 200 and needs.reads:
                assert AccessEntry.objects.count() == old + 1
                line = AccessEntry.objects.latest("pk")
                assert (line.action, line.run_pk) == (needs.reads, world.run.pk)
            elif WORDS in answer.content.decode(errors="replace"):
                assert route in SHOWS_TITLES
        answers[scopes] = answer.status_code
    assert isinstance(needs.what, tuple)
    wanted = {scopes: needs.ok if set(scopes) & set(needs.what) else 403 for scopes in keys}
    nobody = {
        "no key": Client(),
        "unknown": bearer("agd_" + "x" * 43),
        "empty": bearer(""),
        "revoked": bearer(revoked_text),
        "signed in": signed_in(a_member(world.own, Role.ADMIN)),
        "basic": Client(headers={"Authorization": f"Basic {keys[tuple(KeyScope)]}"}),
    }

    assert answers == wanted
    for name, client in nobody.items():
        answer = ask(client, address, needs)
        assert (name, answer.status_code) == (name, 401)
        assert WORDS not in answer.content.decode()


@pytest.mark.parametrize(
    ("route", "needs"), [each for each in lines(KEYED) if "<" in each.values[0]]
)
def test_a_key_reaches_its_own_project_alone(world: World, route: str, needs: Needs) -> None:
    """Reading what is another project's is a 404; sending to its run's id makes one's own run."""
    _, text = a_key(world.own, *KeyScope)
    before = Run.objects.get(pk=world.foreign.pk).updated_at

    with undone():
        answer = ask(bearer(text), world.address(route, needs, world.foreign), needs)
        sent = Delivery.objects.filter(project=world.other).count()

    assert answer.status_code == (202 if needs.ok == 202 else 404)
    assert (sent, Run.objects.get(pk=world.foreign.pk).updated_at) == (1, before)


@pytest.mark.parametrize("part", ["rounds", "export"])
def test_no_key_reads_a_restricted_run(world: World, part: str) -> None:
    _, text = a_key(world.own, *KeyScope)

    answer = bearer(text).get(f"/api/v1/runs/{world.restricted.run_id}/{part}")

    assert answer.status_code == 403
    assert WORDS not in answer.content.decode()
    assert not AccessEntry.objects.exists()


@pytest.mark.parametrize("address", ["runs", "runs/own/restricted", "runs/own/restricted/findings"])
def test_a_key_sees_no_words_of_a_restricted_run(world: World, address: str) -> None:
    Run.objects.filter(pk=world.run.pk).delete()
    _, text = a_key(world.own, KeyScope.READ)

    answer = bearer(text).get(f"/api/v1/{address}")

    assert answer.status_code == 200
    assert WORDS not in answer.content.decode()


@pytest.mark.parametrize("words", [WORDS, "zanz", "ticket: z"])
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("named", [True, False])
def test_a_search_tells_nothing_of_what_may_not_be_read(
    world: World, words: str, role: Role, named: bool
) -> None:
    """Neither by rows nor by counts: whoever could ask word by word would read the title."""
    client = signed_in(a_member(world.own, role, restricted=named))
    address = f"/p/own/runs/?tab=all&q={words}"

    found = {run.pk for run in client.get(address).context["page"].runs}
    counted = client.get(address).context["count"]

    readable = {world.run.pk} | ({world.restricted.pk} if named else set())
    assert found == (readable if TEXT in ROLE_MAY[role] else set())
    assert counted == str(len(found))


@pytest.mark.parametrize(("route", "needs"), lines(REST))
def test_what_needs_no_role_shows_nothing(world: World, route: str, needs: Needs) -> None:
    address = world.address(route, needs, world.run)

    stranger = ask(Client(), address, needs)
    account = ask(signed_in(a_user()), address, needs)

    if needs.what is Open.SIGNED_IN:
        assert stranger.headers["Location"].startswith("/sign-in/")
    else:
        assert stranger.status_code == needs.ok
    for answer in (stranger, account):
        text = answer.content.decode()
        assert WORDS not in text
        assert "/p/own/" not in text


def posts() -> list[Any]:
    pages = [each for each in lines({**PAGES, **REST}) if each.values[1].method == "post"]
    sign_in = Needs(Open.TO_ALL, "post", form={"login": "a@b.example", "password": "x"})
    return [*pages, pytest.param("sign-in/", sign_in, id="post /sign-in/")]


@pytest.mark.parametrize(("route", "needs"), posts())
def test_a_post_from_another_site_is_refused(world: World, route: str, needs: Needs) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_member(world.own, Role.ADMIN))
    address = world.address(route, needs, world.run)

    plain = ask(client, address, needs)
    swapped = ask(client, address, needs, headers={"HX-Request": "true"})

    assert (plain.status_code, swapped.status_code) == (403, 403)
    assert not AccessEntry.objects.exists()


METHODS = ("get", "post", "put", "patch", "delete")


@pytest.mark.parametrize("route", [*PAGES, *KEYED])
def test_other_methods_are_refused(world: World, route: str) -> None:
    table = {**PAGES, **KEYED}[route]
    if route in PAGES:
        client = signed_in(a_member(world.own, Role.ADMIN, restricted=True))
    else:
        client = bearer(a_key(world.own, *KeyScope)[1])
    taken = {needs.method for needs in table}

    address = world.address(route, table[0], world.run)
    answers = {name: getattr(client, name)(address).status_code for name in METHODS}

    assert {name for name, status in answers.items() if status != 405} == taken


def subsets(scopes: Any) -> list[tuple[KeyScope, ...]]:
    """Every choice of one or more."""
    every = tuple(scopes)
    return [chosen for n in range(1, len(every) + 1) for chosen in combinations(every, n)]
