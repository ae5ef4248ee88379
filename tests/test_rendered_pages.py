"""What every page says when everything in it was written by somebody hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from analysis.alerts.channels import channel_add
from analysis.models import (
    AlertMessage,
    Annotation,
    AnnotationKind,
    AnnotationVersion,
    ChannelKind,
    Incident,
    SavedView,
    TestCase,
)
from tests.analysis.case_pages.made import a_kept_result, a_test_case
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_member, a_user
from tests.page_runs import a_shown_run, hostile_text
from tests.test_access_matrix import PAGES, REST, World, ask, signed_in
from transcripts.choices import DeliveryState, Role
from transcripts.maskers import typed_masker
from transcripts.models import Delivery, MaskRule, NotSecret, Project, Run, RunHold, User
from transcripts.record import Ending, InputChange, Message, Placed, RunRecord

pytestmark = pytest.mark.django_db

EVIL = hostile_text()
# Names of people and projects have no unseen characters, see the tests of members.
VISIBLE = "<script>alert(1)</script>{{ 7|add:7 }}<img src=x onerror=alert(2)>"
# What no text between two tags may hold: they change what one sees, and are not seen.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class Rendered(HTMLParser):
    """What a browser would run, load or send of a page, beyond what the policy allows."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        for name, value in said.items():
            if name == "style" or name.startswith(("on", "hx-on")):
                self.wrong.append(f"<{tag} {name}>")
            if name in ("href", "src", "action", "formaction", "data") and not local(tag, value):
                self.wrong.append(f"<{tag} {name}={value!r}>")
            if value.strip().lower().startswith(("js:", "javascript:")):
                self.wrong.append(f"<{tag} {name}={value!r}>")
        if tag in ("style", "iframe", "object", "embed", "base", "applet"):
            self.wrong.append(f"<{tag}>")
        if tag == "script" and "src" not in said:
            self.wrong.append("<script> without src")
        if tag == "meta" and said.get("http-equiv", "").lower() == "refresh":
            self.wrong.append("<meta refresh>")

    handle_startendtag = handle_starttag


def local(tag: str, value: str) -> bool:
    """Whether it leads to a place of Agentdesk; a link that a person follows may lead away."""
    if re.match(r"(/(?![/\\])|[?#.]|[\w-]*$)", value):
        return True
    return tag == "a" and value.startswith(("https://", "http://", "otpauth://"))


class HostileWorld(World):
    """The world of the access matrix with hostile text in all that people and programs write."""

    def __init__(self) -> None:
        super().__init__()
        self.run = hostile_run(self.own, "failed")
        hostile_run(self.own, "again")
        hostile_run(self.own, "handed", ending=Ending.HANDED_OFF)
        hostile_run(self.own, "live", live=True, ending=None)
        person = a_user("admin@desk.example", "right", name=VISIBLE)
        self.admin = a_member(self.own, Role.ADMIN, user=person)
        masker = typed_masker(self.own)
        self.text = text = masker.text(EVIL)
        incident = Incident.objects.filter(project=self.own).latest("run_count", "pk")
        self.incidents[self.own.pk] = str(incident.number)
        Incident.objects.filter(pk=incident.pk).update(
            owner=self.admin, resolved_in=text, resolved_kind="prompt"
        )
        case = a_test_case(self.run, title=EVIL, notes=EVIL)
        TestCase.objects.filter(pk=case.pk).update(incident=incident, author=self.admin)
        a_kept_result(case, 1, 2, prompt=EVIL, model=EVIL, code=EVIL)
        self.cases[self.own.pk] = str(case.number)
        for kind in AnnotationKind:
            said = Annotation.objects.create(
                project=self.own,
                run=self.run,
                kind=kind,
                author=self.admin,
                text=text,
                cause="other" if kind == AnnotationKind.ROOT_CAUSE else "",
            )
            said.mentions.add(self.admin)
            AnnotationVersion.objects.create(annotation=said, text=text)
            self.annotations[self.own.pk] = said
        RunHold.objects.create(run=self.run, why=text, user=self.admin)
        SavedView.objects.filter(project=self.own).update(name=text, user=self.admin)
        MaskRule.objects.filter(project=self.own).update(must=text, must_not=text, pattern=text)
        NotSecret.objects.filter(project=self.own).update(why=text)
        channel, _ = channel_add(
            project=self.own, kind=ChannelKind.EMAIL, name=EVIL, address="a@b.example",
            user=self.admin,
        )  # fmt: skip
        AlertMessage.objects.filter(project=self.own).update(
            channel=channel,
            body={"words": text, "link": masker.text("javascript:alert(1)")},
        )
        Delivery.objects.filter(project=self.own).update(
            state=DeliveryState.QUARANTINED, error=text, error_at=text,
            history=[{"at": None, "attempts": 1, "error": text, "error_at": text}],
        )  # fmt: skip
        key, _ = a_key(self.own)
        type(key).objects.filter(pk=key.pk).update(name=EVIL[:120])
        Project.objects.filter(pk=self.own.pk).update(name=VISIBLE)


def hostile_run(
    project: Project, name: str, *, live: bool = False, ending: Ending | None = Ending.ERROR
) -> Run:
    """`EVIL` in each place that a sender fills, in rounds that detectors have much to say of."""
    ticket = Message("ticket", "user", EVIL)
    fails = call(f"look {EVIL}", {EVIL: EVIL}, EVIL, is_error=True)
    rounds: list[Any] = [
        a_round(fails, reply=EVIL, reasoning=EVIL, input=InputChange((Placed("ticket", 0),))),
        *([fails] for _ in range(4)),
        a_round(call(f"escalate_to {EVIL}", EVIL, EVIL), reply=EVIL, error=EVIL),
    ]
    record: RunRecord = a_run(
        *rounds,
        *([] if live else [EVIL]),
        run_id=f"{name} {EVIL}",
        ticket_id=f"{name} {EVIL}",
        title=EVIL,
        agent=EVIL,
        model=EVIL,
        prompt_version=f"{EVIL}",
        code_version=EVIL,
        labels={EVIL: EVIL},
        messages=(ticket,),
        **({"ending": ending, "ending_reason": EVIL} if ending else {}),
    )
    return a_shown_run(record, project, live=live)


@pytest.fixture
def world() -> HostileWorld:
    return HostileWorld()


def wrong_in(page: str) -> Iterator[str]:
    """What is wrong with a page's HTML."""
    rendered = Rendered()
    rendered.feed(page)
    rendered.close()
    yield from rendered.wrong
    if "<img src=x" in page or "<script>alert" in page:
        yield "markup of a transcript"
    if "alert(1)&lt;/script&gt;14" in page:
        yield "template code of a transcript"
    # What is being edited is there as it is.
    said = re.sub(r"<[^>]*>", "", re.sub(r"<textarea.*?</textarea>", "", page, flags=re.DOTALL))
    if found := UNSEEN.search(said):
        yield f"unseen {found[0]!r} in {said[max(0, found.start() - 90) : found.start()]!r}"


def walked(client: Client, world: HostileWorld) -> Iterator[tuple[str, Any]]:
    """The answers of all pages, also of those that a form of theirs makes."""
    for route, all_needs in {**PAGES, **REST}.items():
        for needs in all_needs:
            if needs.method == "get":
                address = world.address(route, needs, world.run)
                yield f"GET /{route}", ask(client, address, needs)
                if route in PAGES and needs.swap is False:
                    headers = {"HX-Request": "true"}
                    yield f"swap /{route}", ask(client, address, needs, headers=headers)


def told(answers: Iterator[tuple[str, Any]]) -> dict[str, list[str]]:
    """What is wrong, by address. Without pages nothing would be."""
    found: dict[str, list[str]] = {}
    pages = 0
    for name, answer in answers:
        if answer.status_code >= 500:
            found[name] = [f"status {answer.status_code}"]
        if answer.headers.get("Content-Type", "").startswith("text/html") and answer.content:
            pages += 1
            wrong = list(dict.fromkeys(wrong_in(answer.content.decode())))
            # The API's document page is django-ninja's own; it shows no transcript.
            if wrong and name != "GET /api/v1/docs":
                found[name] = wrong
    assert pages > 5
    return found


def test_no_page_runs_or_loads_what_somebody_wrote(world: HostileWorld) -> None:
    assert told(walked(signed_in(world.admin), world)) == {}


def test_nor_do_pages_of_nobody(world: HostileWorld) -> None:
    answers = ((f"GET /{route}", ask(Client(), world.address(route, needs, world.run), needs))
               for route, all_needs in REST.items() for needs in all_needs
               if needs.method == "get")  # fmt: skip

    assert told(answers) == {}


def test_nor_do_pages_of_who_reads_no_transcript(world: HostileWorld) -> None:
    person: User = a_member(world.own, Role.OBSERVER)

    assert told(walked(signed_in(person), world)) == {}


def test_an_upload_is_told_as_text(world: HostileWorld) -> None:
    """Names of files, of runs, and what of a file could not be read, before anything is stored."""
    run = {"run_id": EVIL, "rounds": [{"round": 1, "stop": "finished", "reply": EVIL}]}
    broken = {"run_id": EVIL, "rounds": [{"round": EVIL, EVIL: EVIL}]}
    content = "\n".join(json.dumps(each) for each in (run, broken, EVIL)).encode()
    client = signed_in(world.admin)
    files = [SimpleUploadedFile("<img src=x onerror=alert(1)>.jsonl", content),
             SimpleUploadedFile(EVIL.replace("/", "") + ".json", EVIL.encode())]  # fmt: skip

    answer = client.post("/p/own/send/files/", {"files": files}, follow=True)

    page = answer.content.decode()
    assert list(wrong_in(page)) == []
    assert "&lt;script&gt;" in page


ASKED = (
    "runs/?q={}", "runs/?agent={}&tool={}", "incidents/?q={}&agent={}", "cases/?agent={}",
    "tools/?agent={}&days={}", "insights/?agent={}", "settings/limits/?agent={}",
    "settings/access/?who={}&what={}", "settings/retention/erase/?ticket={}", "queue/?tab={}",
    "detectors/empty_result/?agent={}", "stop-reasons/?q={}", "deliveries/?state={}",
    "settings/masking/rule/?name={}",
)  # fmt: skip


def test_what_is_asked_for_is_told_as_text(world: HostileWorld) -> None:
    client = signed_in(world.admin)
    addresses = ["/p/own/" + each.replace("{}", quote(EVIL)) for each in ASKED]

    assert told((address, client.get(address)) for address in addresses) == {}
