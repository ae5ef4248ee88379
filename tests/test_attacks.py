"""What somebody may try against the pages and the API."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Verdict
from tests.builders import a_round, a_run, call
from tests.factories import a_key, a_member, a_project, a_user
from tests.page_runs import a_shown_run
from tests.test_access_matrix import KEYED, PAGES, World, ask, signed_in
from transcripts.choices import KeyScope, Role
from transcripts.mail import password_link_path, password_link_send
from transcripts.models import ApiKey, Invitation, Membership, Project, Run, User
from transcripts.record import Message

pytestmark = pytest.mark.django_db

SIGN_IN = "/sign-in/"


def sign_in(client: Client, email: str, password: str, **fields: str) -> Any:
    return client.post(SIGN_IN, {"login": email, "password": password, **fields})


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "http:///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "/\t/evil.example",
        "\x00//evil.example",
        "/x\r\nSet-Cookie: a=b",
    ],
)
@pytest.mark.parametrize("address", [SIGN_IN, "/theme/"])
def test_next_leads_nowhere_else(client: Client, address: str, place: str) -> None:
    a_user("lead@desk.example", "right")
    fields = {"login": "lead@desk.example", "password": "right", "theme": "dark"}

    answer = client.post(address, {**fields, "next": place})

    assert answer.status_code == 302
    assert re.match(r"/(?![/\\])", answer.headers["Location"])
    assert "evil" not in answer.headers["Location"]
    assert "a=b" not in str(answer.cookies)


def test_a_session_from_before_signing_in_is_not_kept(client: Client) -> None:
    a_user("lead@desk.example", "right")
    client.cookies["agentdesk_session"] = "a" * 32

    sign_in(client, "lead@desk.example", "right")
    first = client.cookies["agentdesk_session"].value
    client.post("/sign-out/")
    sign_in(client, "lead@desk.example", "right")

    assert first != "a" * 32
    assert client.cookies["agentdesk_session"].value != first
    stale = Client()
    stale.cookies["agentdesk_session"] = first
    assert stale.get("/").status_code == 302
    assert stale.get("/").headers["Location"].startswith(SIGN_IN)


def test_a_new_password_ends_other_sessions(client: Client) -> None:
    user = a_member(a_project("own"), user=a_user("lead@desk.example", "right"))
    sign_in(client, "lead@desk.example", "right")
    user.set_password("other")
    user.save()

    assert client.get("/p/own/runs/").status_code == 302


def test_a_removed_member_reads_nothing_more() -> None:
    project = a_project("own")
    person = a_member(project, Role.ADMIN)
    client = signed_in(person)
    assert client.get("/p/own/runs/").status_code == 200

    Membership.objects.filter(user=person).delete()

    assert client.get("/p/own/runs/").status_code == 404


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(client: Client) -> None:
    a_user("lead@desk.example", "right")
    client.get(SIGN_IN)
    sign_in(client, "lead@desk.example", "right")

    session = client.cookies["agentdesk_session"]

    assert (session["httponly"], session["samesite"]) == (True, "Lax")
    assert client.cookies["agentdesk_csrf"]["samesite"] == "Lax"


def test_unknown_people_and_wrong_passwords_are_told_the_same(client: Client) -> None:
    a_user("lead@desk.example", "right")
    known = sign_in(client, "lead@desk.example", "wrong")
    unknown = sign_in(client, "nobody@desk.example", "wrong")

    assert tokens_cut(known) == tokens_cut(unknown)


@pytest.mark.parametrize("address", ["/?x=1", "/p/own/runs/?page=2", "/sign-in/?next=/a"])
def test_a_header_cannot_be_injected(client: Client, address: str) -> None:
    answer = client.get(address + "%0d%0aSet-Cookie:%20a=b%0d%0a")

    assert "a" not in answer.cookies
    assert all("\n" not in value and "\r" not in value for value in answer.headers.values())


def test_a_foreign_host_is_refused(client: Client) -> None:
    assert client.get(SIGN_IN, headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize("route", PAGES)
def test_every_page_tells_browsers_what_it_may(route: str) -> None:
    world = World()
    client = signed_in(a_member(world.own, Role.ADMIN, restricted=True))
    for needs in PAGES[route]:
        answer = ask(client, world.address(route, needs, world.run), needs)

        assert_safe(answer)
        assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize(
    "address", ["/", SIGN_IN, "/nowhere/", "/healthz", "/api/v1/docs", "/api/v1/runs", "/v1/traces"]
)
def test_so_does_what_is_there_for_all(client: Client, address: str) -> None:
    answer = client.get(address)

    assert_safe(answer, may_style=address == "/api/v1/docs")


def assert_safe(answer: Any, *, may_style: bool = False) -> None:
    headers = answer.headers
    policy = dict(
        [*part.strip().split(" ", 1), ""][:2]
        for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy.get("script-src", "'self'") == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert "unsafe-eval" not in headers["Content-Security-Policy"]
    assert ("unsafe-inline" in headers["Content-Security-Policy"]) == may_style
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


BIDI = "\u202e\u2066\u200b\u200d\ufeff\u2028"
HOSTILE = (
    "</script><script>alert(1)</script>{{ 7*7 }}{% load x %}<img src=x onerror=y>"
    + BIDI
    + "\x1b[31m"
)


@pytest.mark.parametrize("route", PAGES)
def test_hostile_text_stays_text(route: str) -> None:
    """In every place of a run that a sender fills, and on every page."""
    world = World()
    first = a_round(
        call(HOSTILE, {HOSTILE: HOSTILE}, HOSTILE), reply=HOSTILE, reasoning=HOSTILE, error=HOSTILE
    )
    record = a_run(
        first,
        [call(HOSTILE, {}, HOSTILE)],
        [call(HOSTILE, {}, HOSTILE)],
        [call(HOSTILE, {}, HOSTILE)],
        HOSTILE,
        run_id=HOSTILE,
        ticket_id=HOSTILE,
        agent=HOSTILE,
        model=HOSTILE,
        prompt_version=HOSTILE,
        labels={"note": HOSTILE},
        messages=(Message("m", HOSTILE, HOSTILE),),
    )
    run = a_shown_run(record, world.own)
    assert Verdict.objects.filter(run=run).exists()
    client = signed_in(a_member(world.own, Role.ADMIN))
    for needs in PAGES[route]:
        answer = ask(client, world.address(route, needs, run), needs)
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue  # a file to keep, or numbers
        page = answer.content.decode()

        assert "<img src=x" not in page
        assert "<script>" not in page
        assert "alert(1)&lt;/script&gt;49" not in page
        shown = re.sub(r"<[^>]*>", "", page)
        assert not set(BIDI) & set(shown)
        assert "\x1b" not in shown


def test_fields_that_a_form_has_not_change_nothing() -> None:
    project, other = a_project("own"), a_project("other")
    admin = a_member(project, Role.ADMIN)
    lead = Membership.objects.get(user=a_member(project, Role.LEAD))
    client = signed_in(admin)
    more = {"is_superuser": "1", "is_active": "", "project": other.pk, "user": admin.pk}

    member_url = reverse("transcripts:member_change", args=["own", lead.pk])
    client.post(member_url, {"role": "engineer", **more})
    members_url = reverse("transcripts:member_list", args=["own"])
    client.post(members_url, {"email": "new@desk.example", "role": "lead", "password": "x", **more})
    keys_url = reverse("transcripts:key_list", args=["own"])
    client.post(keys_url, {"name": "k", "scopes": "read", "digest": "x", **more})

    lead.refresh_from_db()
    assert (lead.project, lead.role) == (project, Role.ENGINEER)
    assert not User.objects.filter(is_superuser=True).exists()
    assert not User.objects.filter(email="new@desk.example").exists()
    assert Invitation.objects.get().project == project
    assert set(ApiKey.objects.values_list("project", flat=True)) == {project.pk}
    assert not Membership.objects.filter(project=other).exists()


@pytest.mark.parametrize("role", ["owner", "ADMIN", "admin ", ""])
def test_a_role_that_is_none_is_refused(role: str) -> None:
    project = a_project("own")
    lead = Membership.objects.get(user=a_member(project, Role.LEAD))

    signed_in(a_member(project, Role.ADMIN)).post(
        reverse("transcripts:member_change", args=["own", lead.pk]), {"role": role}
    )

    lead.refresh_from_db()
    assert lead.role == Role.LEAD


def test_a_sender_sets_nothing_but_its_runs_content() -> None:
    """Keys of the run's own columns and of other projects, sent with it, are not taken."""
    project, other = a_project("own"), a_project("other")
    _, text = a_key(project, KeyScope.INGEST)
    client = Client(headers={"Authorization": f"Bearer {text}"})
    body = {
        "run_id": "r",
        "rounds": [{"round": 1, "stop": "finished", "reply": "Done."}],
        "project": other.slug,
        "project_id": other.pk,
        "pk": 1,
        "mask_rule_set": "none",
        "restricted": False,
    }

    answer = client.post("/api/v1/runs", body, content_type="application/json")

    assert answer.status_code in (202, 422)
    assert not Run.objects.filter(project=other).exists()
    assert not other.deliveries.exists()


def test_a_stolen_sending_key_reads_nothing(client: Client) -> None:
    project: Project = a_project("own")
    run = a_shown_run(project=project)
    _, text = a_key(project, KeyScope.INGEST)
    headers = {"Authorization": f"Bearer {text}"}

    for address in ("runs", f"runs/{run.run_id}", f"runs/{run.run_id}/rounds",
                    f"runs/{run.run_id}/export", f"runs/{run.run_id}/findings"):  # fmt: skip
        assert client.get(f"/api/v1/{address}", headers=headers).status_code == 403


def test_too_many_requests_are_told_when_to_come_again(client: Client, settings: Any) -> None:
    settings.AGENTDESK_KEY_REQUESTS_PER_MINUTE = 3
    _, text = a_key(a_project(), KeyScope.READ)
    headers = {"Authorization": f"Bearer {text}"}

    answers = [client.get("/api/v1/runs", headers=headers) for _ in range(8)]

    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 61
    assert answers[-1].headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("scope", KeyScope)
def test_a_stolen_key_does_one_thing_in_one_project(client: Client, scope: KeyScope) -> None:
    """Of all addresses of the API, and of all pages, whatever its thief tries."""
    world = World()
    _, text = a_key(world.own, scope)
    headers = {"Authorization": f"Bearer {text}"}
    opened = set()
    for route, all_needs in {**PAGES, **KEYED}.items():
        for needs in all_needs:
            own = ask(client, world.address(route, needs, world.run), needs, headers=headers)
            foreign = world.address(route, needs, world.foreign)
            other = ask(client, foreign, needs, headers=headers)
            if own.status_code < 300:
                assert isinstance(needs.what, tuple)
                opened.update(set(needs.what) & {scope})
            if "<" in route and needs.method == "get":
                assert other.status_code >= 300, route
    assert opened <= {scope}
    if scope != KeyScope.READ:
        assert client.get("/api/v1/runs", headers=headers).status_code == 403
    if scope != KeyScope.INGEST:
        sent = {"run_id": "x", "rounds": [{"round": 1, "stop": "finished", "reply": "."}]}
        answer = client.post("/api/v1/runs", sent, content_type="application/json", headers=headers)
        assert answer.status_code == 403


def test_a_mailed_link_leads_here_whatever_host_was_asked(
    client: Client, settings: Any, mailoutbox: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for a link with a header of their own must not be sent its token."""
    settings.AGENTDESK_SENDS_MAIL, settings.AGENTDESK_URL = True, "https://desk.example.org"
    settings.ALLOWED_HOSTS = ["localhost", ".example.org"]
    person = a_user("lead@desk.example", "right")
    queued: list[Any] = []
    monkeypatch.setattr(
        "transcripts.views.password_forgotten.enqueue", lambda *told: queued.append(told)
    )
    headers = {"host": "evil.example.org", "x-forwarded-host": "evil.example"}

    known = client.post("/password/forgotten/", {"email": "Lead@desk.example"}, headers=headers)
    unknown = client.post("/password/forgotten/", {"email": "no@desk.example"}, headers=headers)
    password_link_send(user=person)

    assert [told[1] for told in queued] == [person.pk, 0]
    assert tokens_cut(known) == tokens_cut(unknown)
    (mail,) = mailoutbox
    assert "https://desk.example.org/password/" in mail.body
    assert "evil" not in mail.body


def test_a_password_link_works_once_and_not_after_a_new_password(client: Client) -> None:
    person = a_user("lead@desk.example", "right")
    link = password_link_path(person)
    form = client.get(link, follow=True)
    assert form.context["form"]

    person.set_password("a-newer-password-77")
    person.save()

    late = Client().get(link, follow=True)
    assert late.context.get("token_fail") or late.status_code >= 400


def test_a_picture_elsewhere_signs_nobody_out(client: Client) -> None:
    """A link or a picture of another site asks with GET."""
    person = a_member(a_project("own"))
    client.force_login(person)

    answer = client.get("/sign-out/")

    assert answer.status_code < 500
    assert client.get("/p/own/runs/").status_code == 200


def tokens_cut(answer: Any) -> str:
    typed = r'value="[^"]*"|hx-headers=\'[^\']*\'|\w+@desk\.example'
    return re.sub(typed, "", answer.content.decode())
