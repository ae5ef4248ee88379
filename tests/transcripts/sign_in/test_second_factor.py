from __future__ import annotations

import io
import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from tests.factories import a_member, a_project, a_user
from tests.transcripts.sign_in.people import (
    EMAIL,
    PASSWORD,
    code_of,
    is_in,
    recovery_codes_of,
    secret_of,
    sign_in,
    with_second_factor,
)
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Membership, Project, User
from transcripts.sealing import SealError
from transcripts.services.second_factors import second_factors_reseal

pytestmark = pytest.mark.django_db
CODE = "/sign-in/code/"


@pytest.fixture
def person() -> User:
    return a_user(EMAIL, PASSWORD)


def set_up(client: Client) -> tuple[str, Any]:
    """What a person does to set one up; returns the secret and the page of recovery codes."""
    again = client.get("/account/second-factor/")
    assert again.headers["Location"].startswith("/sign-in/again/")
    form = client.post(again.headers["Location"], {"password": PASSWORD}, follow=True)
    found = re.search(r'id="secret">([A-Z2-7]+)<', form.content.decode())
    assert found
    done = client.post("/account/second-factor/", {"code": code_of(found[1])}, follow=True)
    return found[1], done


def test_a_person_sets_one_up_and_is_asked_for_it(person: User) -> None:
    client = Client()
    sign_in(client)
    secret, shown = set_up(client)
    client.post("/sign-out/")

    asked = sign_in(client)
    before = is_in(client)
    client.post(CODE, {"code": code_of(secret, steps=1)})

    assert "shown only now" in shown.content.decode()
    assert asked.headers["Location"] == CODE
    assert (before, is_in(client)) == (False, True)


def test_the_page_shows_a_code_to_scan_and_the_secret(person: User) -> None:
    client = Client()
    sign_in(client)
    again = client.get("/account/second-factor/").headers["Location"]
    page = client.post(again, {"password": PASSWORD}, follow=True).content.decode()

    assert '<svg viewBox="0 0 ' in page
    assert "otpauth://totp/lead%40desk.example?secret=" in page
    assert "style=" not in page


def test_a_wrong_code_sets_nothing_up(person: User) -> None:
    client = Client()
    sign_in(client)
    again = client.get("/account/second-factor/").headers["Location"]
    client.post(again, {"password": PASSWORD})

    answer = client.post("/account/second-factor/", {"code": "123456"})

    assert "This code is wrong" in answer.content.decode()
    assert not Authenticator.objects.exists()


def test_the_password_alone_opens_nothing(person: User) -> None:
    with_second_factor(person)
    a_member(a_project("own"), Role.ADMIN, user=person)
    client = Client()
    sign_in(client)

    for address in ("/account/", "/account/sessions/", "/p/own/runs/", "/account/password/"):
        assert client.get(address).headers["Location"].startswith("/sign-in/?next=")


def test_a_code_works_once(person: User) -> None:
    secret = with_second_factor(person)
    code = code_of(secret)
    first, second = Client(), Client()
    sign_in(first)
    sign_in(second)

    first.post(CODE, {"code": code})
    answer = second.post(CODE, {"code": code})

    assert is_in(first)
    assert "was used before" in answer.content.decode()
    assert not is_in(second)


@pytest.mark.parametrize("steps", [-10, -2, 2, 10])
def test_a_code_of_another_time_is_wrong(person: User, steps: int) -> None:
    secret = with_second_factor(person)
    client = Client()
    sign_in(client)

    client.post(CODE, {"code": code_of(secret, steps=steps)})

    assert not is_in(client)


@pytest.mark.parametrize("code", ["", " ", "0", "x" * 5000, "٣٣٣٣٣٣", "\x00", "-1", "1e5"])
def test_odd_codes_are_wrong(person: User, code: str) -> None:
    with_second_factor(person)
    client = Client()
    sign_in(client)

    assert client.post(CODE, {"code": code}).status_code == 200
    assert not is_in(client)


def test_a_recovery_code_works_once(person: User) -> None:
    with_second_factor(person)
    code = recovery_codes_of(person)[0]
    first, second = Client(), Client()
    sign_in(first)
    sign_in(second)

    first.post(CODE, {"code": code})
    second.post(CODE, {"code": code})

    assert (is_in(first), is_in(second)) == (True, False)
    assert len(recovery_codes_of(person)) == 9
    line = AccessEntry.objects.get(action=AccessAction.SIGN_IN)
    assert line.detail == {"with": "password, recovery code"}


def test_recovery_codes_are_shown_once(person: User) -> None:
    client = Client()
    sign_in(client)
    _, shown = set_up(client)
    codes = recovery_codes_of(person)

    again = client.get("/account/recovery-codes/").content.decode()

    assert all(code in shown.content.decode() for code in codes)
    assert not any(code in again for code in codes)


def test_new_recovery_codes_end_the_old_ones(person: User) -> None:
    client = Client()
    sign_in(client)
    set_up(client)
    old = recovery_codes_of(person)

    client.post("/account/recovery-codes/new/")

    assert not set(old) & set(recovery_codes_of(person))


def test_turning_it_off_takes_a_password_and_leaves_a_line(person: User) -> None:
    client = Client()
    client.force_login(person)
    with_second_factor(person)

    asked = client.post("/account/second-factor/off/")
    client.post(asked.headers["Location"], {"password": PASSWORD})
    client.post("/account/second-factor/off/")

    assert asked.headers["Location"].startswith("/sign-in/again/")
    assert not Authenticator.objects.exists()
    removed = [line.detail for line in AccessEntry.objects.filter(action=AccessAction.FACTOR)]
    assert {"removed": "totp"} in removed


def test_nothing_of_it_stands_plainly_in_the_database(person: User) -> None:
    """Neither secret nor recovery codes, nor the session in which they are set up."""
    client = Client()
    sign_in(client)
    again = client.get("/account/second-factor/").headers["Location"]
    client.post(again, {"password": PASSWORD}, follow=True)
    secret = client.session["mfa.totp.secret"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT session_data FROM django_session")
        sessions = str(cursor.fetchall())
    client.post("/account/second-factor/", {"code": code_of(secret)})
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        factors = str(cursor.fetchall())

    assert secret_of(person) == secret
    assert secret not in factors + sessions
    assert not any(code in factors for code in recovery_codes_of(person))


def test_a_new_master_key_seals_them_again(person: User, settings: Any) -> None:
    with_second_factor(person)
    old, new = settings.AGENTDESK_MASTER_KEYS[0], b"n" * 32
    settings.AGENTDESK_MASTER_KEYS = (new, old)
    secret = secret_of(person)

    call_command("seal_second_factors", verbosity=0, stdout=io.StringIO())
    settings.AGENTDESK_MASTER_KEYS = (new,)

    assert secret_of(person) == secret
    settings.AGENTDESK_MASTER_KEYS = (old,)
    with pytest.raises(SealError):
        second_factors_reseal()


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def test_a_project_shows_nothing_without_one(project: Project, person: User) -> None:
    admin, client = Client(), Client()
    admin.force_login(a_member(project, Role.ADMIN))
    a_member(project, Role.LEAD, user=person)
    sign_in(client)
    address = reverse("transcripts:second_factor", args=["helpdesk"])

    admin.post(address, {"required": "on"})
    refused = client.get("/p/helpdesk/runs/?tab=all")
    part = client.get("/p/helpdesk/runs/", headers={"HX-Request": "true"})
    also_admin = admin.get("/p/helpdesk/settings/members/")
    set_up(client)

    assert refused.headers["Location"] == (
        "/account/second-factor/?next=%2Fp%2Fhelpdesk%2Fruns%2F%3Ftab%3Dall"
    )
    assert (part.status_code, part.content) == (403, b"")
    assert also_admin.status_code == 302
    assert client.get("/p/helpdesk/runs/").status_code == 200
    assert AccessEntry.objects.filter(
        project_id=project.pk, detail__after={"second factor required": True}
    ).exists()


def test_it_cannot_be_turned_off_where_it_is_required(project: Project, person: User) -> None:
    Project.objects.update(require_second_factor=True)
    a_member(project, Role.LEAD, user=person)
    client = Client()
    client.force_login(person)
    with_second_factor(person)
    asked = client.post("/account/second-factor/off/")
    client.post(asked.headers["Location"], {"password": PASSWORD})

    answer = client.post("/account/second-factor/off/")

    assert "is required of you" in answer.content.decode()
    assert Authenticator.objects.filter(type="totp").exists()


def test_the_installation_can_ask_for_it(project: Project, person: User, settings: Any) -> None:
    settings.AGENTDESK_REQUIRE_SECOND_FACTOR = True
    a_member(project, Role.LEAD, user=person)
    client = Client()
    client.force_login(person)

    refused = client.get("/p/helpdesk/runs/").status_code
    with_second_factor(person)

    assert (refused, client.get("/p/helpdesk/runs/").status_code) == (302, 200)


def test_other_projects_are_not_touched(project: Project, person: User) -> None:
    Project.objects.update(require_second_factor=True)
    a_member(project, Role.LEAD, user=person)
    a_member(a_project("other"), Role.LEAD, user=person)
    client = Client()
    client.force_login(person)

    assert client.get("/p/other/runs/").status_code == 200


def reset(client: Client, project: Project, person: User, what: str = "factor") -> Any:
    pk = Membership.objects.get(project=project, user=person).pk
    return client.post(reverse(f"transcripts:member_{what}", args=[project.slug, pk]))


def test_an_administrator_resets_a_lost_one(project: Project, person: User) -> None:
    a_member(project, Role.LEAD, user=person)
    secret = with_second_factor(person)
    theirs, admin = Client(), Client()
    sign_in(theirs)
    theirs.post(CODE, {"code": code_of(secret)})
    admin.force_login(a_member(project, Role.ADMIN))

    reset(admin, project, person)

    assert not Authenticator.objects.exists()
    assert not is_in(theirs)
    assert sign_in(theirs).headers["Location"] == "/"
    line = AccessEntry.objects.filter(project_id=project.pk).latest("pk")
    assert (line.action, line.detail) == (AccessAction.FACTOR, {"reset for": EMAIL})


@pytest.mark.parametrize("what", ["factor", "password"])
def test_the_administrator_of_one_project_gets_into_no_other(
    project: Project, person: User, what: str
) -> None:
    """A reset opens all of an account, so whoever resets must administer all of it."""
    a_member(project, Role.LEAD, user=person)
    other = a_project("other")
    a_member(other, Role.ADMIN, user=person)
    with_second_factor(person)
    administrator = a_member(project, Role.ADMIN)
    admin = Client()
    admin.force_login(administrator)

    refused = reset(admin, project, person, what)
    Membership.objects.create(project=other, user=administrator, role=Role.ENGINEER)
    still = reset(admin, project, person, what)
    Membership.objects.filter(project=other, user=administrator).update(role=Role.ADMIN)
    allowed = reset(admin, project, person, what)

    assert (refused.status_code, still.status_code) == (403, 403)
    assert b"a project that you do not administer" in refused.content
    assert allowed.status_code in (200, 302)


def test_a_password_link_still_asks_for_the_code(project: Project, person: User) -> None:
    a_member(project, Role.LEAD, user=person)
    secret = with_second_factor(person)
    admin, theirs, old = Client(), Client(), Client()
    sign_in(old)
    old.post(CODE, {"code": code_of(secret)})
    admin.force_login(a_member(project, Role.ADMIN))
    page = reset(admin, project, person, "password").content.decode()
    link = re.search(r'id="shown-once">http://testserver([^<]+)<', page)
    assert link
    new = {"password1": PASSWORD + "-new", "password2": PASSWORD + "-new"}

    form = theirs.get(link[1], follow=True).request["PATH_INFO"]
    done = theirs.post(form, new)
    again = Client().get(link[1], follow=True)

    assert done.headers["Location"] == CODE
    assert not is_in(theirs)
    assert not is_in(old)
    assert "This link no longer works" in again.content.decode()
    person.refresh_from_db()
    assert person.check_password(PASSWORD + "-new")


def test_a_command_resets_for_who_has_no_administrator(person: User) -> None:
    with_second_factor(person)

    call_command("reset_second_factor", EMAIL.upper(), stdout=io.StringIO())

    assert not Authenticator.objects.exists()
    assert AccessEntry.objects.get().who == "on the server"
