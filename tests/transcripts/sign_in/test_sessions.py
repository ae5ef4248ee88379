"""What a session is worth, and when it ends."""

from __future__ import annotations

import time
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client

from tests.factories import a_member, a_project, a_user
from tests.transcripts.sign_in.people import EMAIL, PASSWORD, is_in, sign_in
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, User
from transcripts.sign_in import session_limits
from transcripts.sign_in.sealed_sessions import SessionStore

pytestmark = pytest.mark.django_db
HOUR = 3600


@pytest.fixture
def person() -> User:
    return a_user(EMAIL, PASSWORD)


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(session_limits.time, "time", clock.time)
    return clock


def test_a_session_ends_when_it_is_not_used(person: User, clock: Clock) -> None:
    client = Client()
    sign_in(client)
    assert is_in(client)

    clock.now += 23 * HOUR
    used = is_in(client)
    clock.now += 23 * HOUR
    used_again = is_in(client)
    clock.now += 25 * HOUR

    assert (used, used_again, is_in(client)) == (True, True, False)
    assert client.get("/account/").headers["Location"] == "/sign-in/?next=/account/"


def test_a_session_ends_after_a_week_however_it_is_used(person: User, clock: Clock) -> None:
    client = Client()
    sign_in(client)
    seen = []
    for _ in range(20):
        seen.append(is_in(client))
        clock.now += 12 * HOUR

    assert seen == [True] * 15 + [False] * 5


def test_both_limits_are_settings(person: User, clock: Clock, settings: Any) -> None:
    settings.SESSION_COOKIE_AGE, settings.AGENTDESK_IDLE_SECONDS = 100, 50
    first, second = Client(), Client()
    sign_in(first)
    sign_in(second)
    assert is_in(first)
    assert is_in(second)

    clock.now += 51
    idle = is_in(first)
    clock.now += 50

    assert (idle, is_in(second)) == (False, False)


def test_use_is_noted_once_a_minute(
    person: User, clock: Clock, django_assert_num_queries: Any
) -> None:
    client = Client()
    sign_in(client)
    client.get("/healthz")
    noted = client.session["seen"]

    clock.now += 59
    client.get("/account/")
    early = client.session["seen"]
    clock.now += 2
    client.get("/account/")

    assert early == noted
    assert client.session["seen"] == noted + 61


def test_a_person_sees_their_sessions_and_ends_the_others(person: User) -> None:
    first, second = Client(), Client(headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/144"})
    other = Client()
    sign_in(first)
    sign_in(second)
    a_user("other@desk.example", PASSWORD)
    sign_in(other, "other@desk.example")

    page = first.get("/account/sessions/").content.decode()
    first.post("/account/sessions/")

    assert "Firefox on Linux" in page
    assert page.count("<tr>") == 3
    assert (is_in(first), is_in(second), is_in(other)) == (True, False, True)
    line = AccessEntry.objects.filter(action=AccessAction.SIGN_OUT).latest("pk")
    assert line.detail == {"other sessions": 1}


def test_one_chosen_session_is_signed_out(person: User) -> None:
    first, second, third = Client(), Client(headers={"User-Agent": "Firefox/144"}), Client()
    for client in (first, second, third):
        sign_in(client)
    chosen = UserSession.objects.get(session_key=second.session.session_key)

    page = first.get("/account/sessions/").content.decode()
    answer = first.post(f"/account/sessions/{chosen.pk}/end/")

    assert page.count("/end/") == 2
    assert answer.headers["Location"] == "/account/sessions/"
    assert (is_in(first), is_in(second), is_in(third)) == (True, False, True)
    line = AccessEntry.objects.filter(action=AccessAction.SIGN_OUT).latest("pk")
    assert (line.user_id, line.detail) == (person.pk, {"other sessions": 1})


def test_neither_a_strangers_session_nor_the_own_is_chosen(person: User) -> None:
    first, stranger = Client(), Client()
    sign_in(first)
    a_user("other@desk.example", PASSWORD)
    sign_in(stranger, "other@desk.example")
    keys = (first.session.session_key, stranger.session.session_key)
    own, theirs = (UserSession.objects.get(session_key=key) for key in keys)

    answers = [first.post(f"/account/sessions/{each.pk}/end/") for each in (own, theirs)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert (is_in(first), is_in(stranger)) == (True, True)


def test_a_changed_password_ends_the_other_sessions(person: User) -> None:
    first, second = Client(), Client()
    sign_in(first)
    sign_in(second)
    before = first.session.session_key
    new = {"password1": PASSWORD + "-2", "password2": PASSWORD + "-2"}

    first.post("/account/password/", {"oldpassword": PASSWORD, **new})

    assert (is_in(first), is_in(second)) == (True, False)
    assert first.session.session_key != before
    assert UserSession.objects.filter(user=person).count() == 1
    assert AccessEntry.objects.filter(action=AccessAction.PASSWORD).count() == 1


def test_a_session_that_was_planted_is_not_taken_over(person: User) -> None:
    """Fixation: the attacker knows the session that the victim signs in with."""
    attacker, victim = Client(), Client()
    attacker.get("/sign-in/with/")
    session = SessionStore()
    session["planted"] = "yes"
    session.save()
    planted = session.session_key
    attacker.cookies["agentdesk_session"] = victim.cookies["agentdesk_session"] = planted

    sign_in(victim)

    assert victim.cookies["agentdesk_session"].value != planted
    assert is_in(victim)
    assert not is_in(attacker)
    assert not Session.objects.filter(session_key=planted).exists()


def test_half_a_sign_in_is_none(person: User) -> None:
    """What was begun for one person is not ended for another."""
    from tests.transcripts.sign_in.people import code_of, with_second_factor

    other = a_user("other@desk.example", PASSWORD)
    secret = with_second_factor(other)
    with_second_factor(person)
    client = Client()
    sign_in(client)

    client.post("/sign-in/code/", {"code": code_of(secret)})

    assert not is_in(client)


def test_a_session_of_a_lost_key_is_nobodys(person: User, settings: Any) -> None:
    client = Client()
    sign_in(client)

    settings.AGENTDESK_MASTER_KEYS = (b"o" * 32,)

    assert not is_in(client)


def test_the_session_table_tells_nothing(person: User) -> None:
    client = Client()
    sign_in(client)

    kept = Session.objects.get(session_key=client.session.session_key).session_data

    assert str(person.pk) == client.session["_auth_user_id"]
    assert "_auth_user" not in kept
    assert SessionStore().decode(kept)["_auth_user_id"] == str(person.pk)
    assert SessionStore().decode("garbage") == SessionStore().decode("") == {}


def test_who_is_switched_off_is_told_no_more_than_a_stranger(person: User) -> None:
    User.objects.update(is_active=False)

    answer = sign_in(Client())

    assert "do not match" in answer.content.decode()


def test_signing_in_takes_any_case_of_the_address(person: User) -> None:
    client = Client()

    assert sign_in(client, "LEAD@Desk.Example").status_code == 302
    assert is_in(client)


def test_passwords_are_hashed_with_argon2() -> None:
    from agentdesk import settings

    assert settings.PASSWORD_HASHERS[0].endswith("Argon2PasswordHasher")


def test_the_audit_log_shows_sign_ins_of_members_alone(person: User) -> None:
    project = a_project("helpdesk")
    a_member(project, Role.LEAD, user=person)
    a_user("stranger@desk.example", PASSWORD)
    client, stranger, admin = Client(), Client(), Client()
    sign_in(client, password="wrong")
    sign_in(client)
    client.post("/sign-out/")
    sign_in(stranger, "stranger@desk.example")
    sign_in(Client(), "my-secret@desk.example", "x")
    admin.force_login(a_member(project, Role.ADMIN))

    page = admin.get("/p/helpdesk/settings/access/").content.decode()
    elsewhere = Client()
    elsewhere.force_login(a_member(a_project("other"), Role.ADMIN))
    other_page = elsewhere.get("/p/other/settings/access/").content.decode()

    rows = page.count(EMAIL)
    assert rows == 3
    assert all(said in page for said in ("signed in", "signed out", "failed to sign in"))
    assert "stranger@desk.example" not in page
    assert EMAIL not in other_page
    assert "no account" in page
    assert "my-secret" not in str(list(AccessEntry.objects.values()))
