"""The whole code flow against a provider in a process of its own, and all that is refused of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.db import connection
from django.test import Client

from agentdesk.environment import Environment
from tests.factories import a_member, a_project, a_user
from tests.transcripts.sign_in.people import code_of, is_in, with_second_factor
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Membership, Project, User
from transcripts.services.invitations import invitation_create

pytestmark = [pytest.mark.django_db, pytest.mark.services, pytest.mark.xdist_group("provider")]
ROOT = Path(__file__).resolve().parents[3]
BACK = "http://testserver/sign-in/with/back/"
EMAIL = "nia@desk.example"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.transcripts.sign_in.provider"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout
        port = process.stdout.readline().strip()
        assert port, "the provider did not start"
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def application(issuer: str) -> dict[str, str]:
    """This application, as the provider knows it."""
    answer = requests.post(f"{issuer}/oauth2/clients", json={"redirect_uris": [BACK]}, timeout=5)
    answer.raise_for_status()
    found: dict[str, str] = answer.json()
    return found


@pytest.fixture(autouse=True)
def configured(issuer: str, application: dict[str, str], settings: Any) -> Iterator[None]:
    environment = Environment(
        {
            "AGENTDESK_OIDC_ISSUER": issuer,
            "AGENTDESK_OIDC_CLIENT_ID": application["client_id"],
            "AGENTDESK_OIDC_CLIENT_SECRET": application["client_secret"],
            "AGENTDESK_OIDC_NAME": "Desk ID",
        }
    )
    settings.SOCIALACCOUNT_PROVIDERS = {
        "single_sign_on": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": environment.single_sign_on("AGENTDESK_OIDC_ISSUER"),
        }
    }
    settings.AGENTDESK_OIDC_ISSUER = issuer
    yield
    fault(issuer)


def fault(issuer: str, *names: str) -> None:
    requests.put(f"{issuer}/faults", json=names, timeout=5).raise_for_status()


def known_there(issuer: str, sub: str = "nia", **claims: Any) -> None:
    """Tell the provider of a person."""
    told = {"email": EMAIL, "email_verified": True, "name": "Nia Ortiz", **claims}
    requests.put(f"{issuer}/users/{sub}", json=told, timeout=5).raise_for_status()


def go(client: Client, address: str = "/sign-in/with/") -> str:
    """The address at the provider that the browser is sent to."""
    answer = client.get(address)
    assert answer.status_code == 302, answer.content
    return str(answer.headers["Location"])


def consent(there: str, sub: str = "nia", **form: str) -> str:
    """What the person does at the provider; returns the path by which the browser comes back."""
    data = {"sub": sub, **form}
    answer = requests.post(there, data=data, allow_redirects=False, timeout=5)
    assert answer.status_code == 302, answer.text
    back = answer.headers["Location"]
    assert back.startswith(BACK)
    return back.removeprefix("http://testserver")


def sign_in(client: Client, sub: str = "nia", address: str = "/sign-in/with/") -> Any:
    return client.get(consent(go(client, address), sub))


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def person(project: Project) -> User:
    return a_member(project, Role.LEAD, user=a_user(EMAIL, "tall-orchid-9917-hall"))


def test_a_member_signs_in(client: Client, issuer: str, person: User) -> None:
    known_there(issuer)

    page = client.get("/sign-in/").content.decode()
    answer = sign_in(client, address="/sign-in/with/?next=/p/helpdesk/runs/%3Ftab%3Dall")

    assert "Sign in with Desk ID" in page
    assert answer.headers["Location"] == "/p/helpdesk/runs/?tab=all"
    assert client.session["_auth_user_id"] == str(person.pk)
    person.refresh_from_db()
    assert person.check_password("tall-orchid-9917-hall")
    line = AccessEntry.objects.get()
    assert (line.action, line.user_id, line.detail) == (
        AccessAction.SIGN_IN, person.pk, {"with": "provider"},
    )  # fmt: skip


def test_the_browser_carries_state_nonce_and_pkce(client: Client, issuer: str) -> None:
    first, second = (parse_qs(urlsplit(go(client)).query) for _ in range(2))

    assert first["code_challenge_method"] == ["S256"]
    assert first["response_type"] == ["code"]
    assert set(first["scope"][0].split()) == {"openid", "profile", "email"}
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name][0]) >= 16
        assert first[name] != second[name]


def test_a_query_of_ours_asks_nothing_more_of_the_provider(client: Client, issuer: str) -> None:
    there = go(
        client,
        "/sign-in/with/?scope=admin&auth_params=nonce%3Dx%26prompt%3Dnone&process=connect",
    )

    query = parse_qs(urlsplit(there).query)
    assert "admin" not in query["scope"][0]
    assert "prompt" not in query
    assert query["nonce"] != ["x"]


def test_a_known_person_stays_known_by_the_number(
    client: Client, issuer: str, person: User
) -> None:
    known_there(issuer)
    sign_in(client)
    known_there(issuer, email="married@desk.example")
    again = Client()

    sign_in(again)

    assert again.session["_auth_user_id"] == str(person.pk)
    assert User.objects.count() == 1


def test_nothing_that_the_provider_tells_is_kept(client: Client, issuer: str, person: User) -> None:
    known_there(issuer, phone_number="+49 89 1234", custom="zanzibar")
    sign_in(client)

    account = SocialAccount.objects.get()
    assert (account.uid, account.extra_data) == ("nia", {})
    assert not SocialToken.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT session_data FROM django_session")
        assert "zanzibar" not in str(cursor.fetchall())


def test_who_is_not_invited_is_not_let_in(client: Client, issuer: str) -> None:
    known_there(issuer, "stranger", email="stranger@desk.example")

    answer = sign_in(client, "stranger")

    assert answer.status_code == 403
    assert "Nobody has invited" in answer.content.decode()
    assert not is_in(client)
    assert not User.objects.exists()
    assert AccessEntry.objects.get().action == AccessAction.SIGN_FAILED


def test_who_is_invited_joins(client: Client, issuer: str, project: Project) -> None:
    invitation_create(project=project, email="Nia@desk.example", role=Role.ENGINEER, user=None)
    invitation_create(project=a_project("other"), email=EMAIL, role=Role.OBSERVER, user=None)
    known_there(issuer)

    sign_in(client)

    user = User.objects.get()
    assert (user.name, user.has_usable_password()) == ("Nia Ortiz", False)
    roles = Membership.objects.filter(user=user).values_list("project__slug", "role")
    assert set(roles) == {("helpdesk", Role.ENGINEER), ("other", Role.OBSERVER)}
    assert not project.invitations.exists()
    assert AccessEntry.objects.filter(action=AccessAction.MEMBER).count() == 2


def test_everybody_of_the_provider_may_be_let_in(
    client: Client, issuer: str, settings: Any
) -> None:
    settings.AGENTDESK_OIDC_INVITED_ONLY = False
    known_there(issuer)

    sign_in(client)

    assert is_in(client)
    assert not Membership.objects.exists()


@pytest.mark.parametrize("verified", [False, None, "true", "false", 1, 0])
def test_an_address_that_is_not_verified_is_refused(
    client: Client, issuer: str, person: User, verified: Any
) -> None:
    known_there(issuer, f"unverified-{verified}", email_verified=verified)

    answer = sign_in(client, f"unverified-{verified}")

    assert answer.status_code == 403
    assert "is verified. Verify it there first" in answer.content.decode()
    assert not is_in(client)
    assert not SocialAccount.objects.exists()


def test_a_person_without_an_address_is_refused(client: Client, issuer: str) -> None:
    known_there(issuer, "nameless", email=None)

    assert sign_in(client, "nameless").status_code == 403


def test_a_trusted_provider_need_not_say_verified(
    client: Client, issuer: str, person: User, settings: Any
) -> None:
    app = settings.SOCIALACCOUNT_PROVIDERS["single_sign_on"]["APPS"][0]
    app["settings"]["verified_email"] = True
    known_there(issuer, email_verified=None)

    sign_in(client)

    assert is_in(client)


@pytest.mark.parametrize(
    "email",
    [
        "nia@evil.example",
        "nia@desk.example.evil.example",
        "nia@xdesk.example",
        "nia@sub.desk.example",
    ],
)
def test_an_address_of_another_domain_is_refused(
    client: Client, issuer: str, settings: Any, email: str
) -> None:
    settings.AGENTDESK_OIDC_DOMAINS = ["desk.example"]
    a_user(email)
    known_there(issuer, email, email=email)

    answer = sign_in(client, email)

    assert answer.status_code == 403
    assert "is not an address of desk.example" in answer.content.decode()
    assert not is_in(client)


def test_an_address_of_an_allowed_domain_is_taken(
    client: Client, issuer: str, person: User, settings: Any
) -> None:
    settings.AGENTDESK_OIDC_DOMAINS = ["other.example", "desk.example"]
    known_there(issuer, email="Nia@Desk.Example")

    sign_in(client)

    assert is_in(client)


@pytest.mark.parametrize(
    "name", ["nonce", "token_issuer", "signature", "unsigned", "no_id_token", "keys"]
)
def test_an_id_token_that_is_not_right_is_refused(
    client: Client, issuer: str, person: User, name: str
) -> None:
    known_there(issuer)
    fault(issuer, name)

    answer = sign_in(client)

    assert answer.status_code == 401
    assert "Signing in with Desk ID failed" in answer.content.decode()
    assert not is_in(client)
    assert not SocialAccount.objects.exists()


def test_a_provider_that_calls_itself_by_another_issuer_is_refused(
    client: Client, issuer: str
) -> None:
    fault(issuer, "issuer")

    assert client.get("/sign-in/with/").status_code == 401


def test_an_answer_of_another_issuer_is_refused(client: Client, issuer: str, person: User) -> None:
    """RFC 9207: the browser was sent back by somebody else."""
    known_there(issuer)
    back = consent(go(client))

    assert client.get(f"{back}&iss=https://evil.example").status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("change", ["none", "other", "missing", "of another browser"])
def test_state_is_of_this_browser_and_works_once(
    client: Client, issuer: str, person: User, change: str
) -> None:
    known_there(issuer)
    back = consent(go(client))
    state = parse_qs(urlsplit(back).query)["state"][0]
    asked = Client() if change == "of another browser" else client
    changed = {
        "other": back.replace(state, "x" * 16),
        "missing": back.replace(f"state={state}", ""),
    }.get(change, back)

    first = asked.get(changed)
    again = asked.get(changed)

    assert (first.status_code == 302) == is_in(asked) == (change == "none")
    assert again.status_code == 401


def test_a_code_of_another_sign_in_is_refused(client: Client, issuer: str, person: User) -> None:
    """PKCE: a stolen code does not help in the thief's own browser."""
    known_there(issuer)
    thief = Client()
    stolen = parse_qs(urlsplit(consent(go(client))).query)["code"][0]
    own = consent(go(thief), "thief")
    code = parse_qs(urlsplit(own).query)["code"][0]

    answer = thief.get(own.replace(code, stolen))

    assert answer.status_code == 401
    assert not is_in(thief)


def test_saying_no_at_the_provider_leads_back(client: Client, issuer: str) -> None:
    back = consent(go(client), action="deny")

    answer = client.get(back, follow=True)

    assert "Signing in was cancelled" in answer.content.decode()
    assert answer.request["PATH_INFO"] == "/sign-in/"


def test_a_provider_that_is_away_is_said(client: Client, settings: Any) -> None:
    app = settings.SOCIALACCOUNT_PROVIDERS["single_sign_on"]["APPS"][0]
    app["settings"]["issuer"] = "http://127.0.0.1:1"

    answer = client.get("/sign-in/with/")

    assert answer.status_code == 401
    assert "Signing in with Desk ID failed" in answer.content.decode()


@pytest.mark.parametrize("place", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_next_leads_nowhere_else(client: Client, issuer: str, person: User, place: str) -> None:
    known_there(issuer)

    answer = sign_in(client, address=f"/sign-in/with/?next={place}")

    assert answer.headers["Location"] == "/"


def test_the_second_factor_is_asked_for_as_well(client: Client, issuer: str, person: User) -> None:
    secret = with_second_factor(person)
    known_there(issuer)

    answer = sign_in(client)
    before = is_in(client)
    client.post("/sign-in/code/", {"code": code_of(secret)})

    assert answer.headers["Location"] == "/sign-in/code/"
    assert (before, is_in(client)) == (False, True)


def test_who_is_switched_off_stays_out(client: Client, issuer: str, person: User) -> None:
    known_there(issuer)
    User.objects.update(is_active=False)

    sign_in(client)

    assert not is_in(client)


def test_a_link_elsewhere_joins_no_account_to_who_is_signed_in(
    client: Client, issuer: str, person: User
) -> None:
    """Signing in as another ends the session; nothing of the two is joined."""
    other = a_user("other@desk.example")
    client.force_login(other)
    known_there(issuer)

    sign_in(client, address="/sign-in/with/?process=connect")

    assert client.session["_auth_user_id"] == str(person.pk)
    assert not SocialAccount.objects.filter(user=other).exists()


def test_the_session_is_a_new_one(client: Client, issuer: str, person: User) -> None:
    known_there(issuer)
    back = consent(go(client))
    before = client.cookies["agentdesk_session"].value

    client.get(back)

    assert client.cookies["agentdesk_session"].value != before


def test_a_person_without_a_password_chooses_one(
    client: Client, issuer: str, project: Project
) -> None:
    invitation_create(project=project, email=EMAIL, role=Role.LEAD, user=None)
    known_there(issuer)
    sign_in(client)
    words = "tall-orchid-9917-hall"

    page = client.get("/account/").content.decode()
    client.post("/account/password/set/", {"password1": words, "password2": words})

    assert "you sign in with Desk ID" in page
    assert User.objects.get().check_password(words)
    assert is_in(client)
