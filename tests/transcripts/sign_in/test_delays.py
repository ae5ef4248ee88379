"""Guessing gets slower, for the account and the address, and keeps nobody out for good."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.factories import a_user
from tests.transcripts.sign_in.people import EMAIL, PASSWORD, code_of, sign_in, with_second_factor
from transcripts.models import AccessEntry, SignInDelay
from transcripts.services import sign_in_delays
from transcripts.services.sign_in_delays import TooSoonError, forgotten_delete, key_of, try_begin

pytestmark = pytest.mark.django_db


class Clock:
    """The time that the delays go by."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, tzinfo=timezone.get_current_timezone())

    def now(self) -> datetime:
        return self.time

    def wait(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(sign_in_delays.timezone, "now", clock.now)
    return clock


def wait_after(answer: Any) -> int:
    return int(answer.headers.get("Retry-After", 0))


def fail(client: Client, email: str = EMAIL, **more: Any) -> Any:
    return sign_in(client, email, "wrong", **more)


def test_the_delay_doubles_up_to_the_longest(client: Client, clock: Clock) -> None:
    a_user(EMAIL, PASSWORD)
    delays = []
    for _ in range(15):
        assert fail(client).status_code == 200
        until = SignInDelay.objects.get(key=key_of("password account", EMAIL)).until
        delays.append((until - clock.time).total_seconds())
        # The address has a count of its own, which is not asked here.
        SignInDelay.objects.exclude(key=key_of("password account", EMAIL)).delete()
        clock.wait(delays[-1])

    assert delays == [0, 0, 0, 0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


@pytest.mark.parametrize("email", [EMAIL, "nobody@desk.example"])
def test_an_account_that_there_is_not_is_slowed_down_alike(
    client: Client, clock: Clock, email: str
) -> None:
    a_user(EMAIL, PASSWORD)
    answers = [fail(client, email) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert wait_after(answers[-1]) == 2
    assert "Wait 2 seconds" in answers[-1].content.decode()
    assert email not in answers[-1].content.decode()


def test_the_right_password_waits_too_and_then_gets_in(client: Client, clock: Clock) -> None:
    a_user(EMAIL, PASSWORD)
    for _ in range(5):
        fail(client)

    early = sign_in(client)
    clock.wait(2)
    late = sign_in(client)

    assert (early.status_code, late.status_code) == (429, 302)
    assert not SignInDelay.objects.filter(key=key_of("password account", EMAIL)).exists()


def test_a_try_that_comes_too_early_makes_nothing_worse(client: Client, clock: Clock) -> None:
    a_user(EMAIL, PASSWORD)
    for _ in range(5):
        fail(client)
    for _ in range(50):
        fail(client)

    clock.wait(2)

    assert sign_in(client).status_code == 302


def test_upper_and_lower_case_are_one_account(client: Client, clock: Clock) -> None:
    for name in ("lead", "Lead", "LEAD", "lEad", "leaD"):
        fail(client, f"{name}@desk.example")

    assert fail(client).status_code == 429


def test_many_accounts_from_one_address(client: Client, clock: Clock) -> None:
    answers = [fail(client, f"person-{n}@desk.example").status_code for n in range(21)]

    assert answers == [200] * 20 + [429]
    elsewhere = fail(client, "person-99@desk.example", REMOTE_ADDR="203.0.113.9")
    assert elsewhere.status_code == 200


def test_one_network_of_ipv6_is_one_address(client: Client, clock: Clock) -> None:
    for n in range(20):
        fail(client, f"person-{n}@desk.example", REMOTE_ADDR=f"2001:db8::{n:x}")

    assert fail(client, "x@desk.example", REMOTE_ADDR="2001:db8::ffff").status_code == 429
    assert fail(client, "x@desk.example", REMOTE_ADDR="2001:db8:1::1").status_code == 200


def test_signing_in_with_ones_own_password_does_not_free_an_address(
    client: Client, clock: Clock
) -> None:
    """Else a guesser would sign in between two guesses."""
    a_user("own@desk.example", PASSWORD)
    answers = []
    for n in range(25):
        answers.append(fail(client, f"person-{n}@desk.example").status_code)
        sign_in(Client(), "own@desk.example")

    assert 429 in answers


def test_strangers_do_not_keep_the_owner_out(clock: Clock) -> None:
    """In a browser where they have signed in before."""
    a_user(EMAIL, PASSWORD)
    known = Client()
    sign_in(known)
    known.post("/sign-out/")
    for n in range(30):
        fail(Client(), REMOTE_ADDR=f"203.0.113.{n}")
        clock.wait(900)
    for n in range(3):
        fail(Client(), REMOTE_ADDR=f"198.51.100.{n}")

    assert sign_in(Client(), REMOTE_ADDR="192.0.2.1").status_code == 429
    assert sign_in(known).status_code == 302


def test_a_known_browser_is_slowed_down_by_itself(clock: Clock) -> None:
    a_user(EMAIL, PASSWORD)
    known = Client()
    sign_in(known)
    known.post("/sign-out/")

    answers = [fail(known).status_code for _ in range(6)]

    assert answers == [200] * 5 + [429]
    assert sign_in(Client()).status_code == 302


@pytest.mark.parametrize("cookie", ["", "x", "a:b:c", "e30:1abc:def"])
def test_a_made_up_cookie_makes_no_known_browser(clock: Clock, cookie: str) -> None:
    client = Client()
    for n in range(6):
        client.cookies["agentdesk_browser"] = f"{cookie}{n}" if cookie else ""
        last = fail(client)

    assert last.status_code == 429


def test_a_known_browser_is_known_for_its_person_alone(clock: Clock) -> None:
    a_user(EMAIL, PASSWORD)
    a_user("other@desk.example", PASSWORD)
    client = Client()
    sign_in(client)
    client.post("/sign-out/")
    for _ in range(5):
        fail(Client(), "other@desk.example")

    assert sign_in(client, "other@desk.example").status_code == 429


def test_codes_are_counted_too(clock: Clock) -> None:
    secret = with_second_factor(a_user(EMAIL, PASSWORD))
    client = Client()
    sign_in(client)

    answers = [client.post("/sign-in/code/", {"code": "000000"}) for _ in range(6)]
    early = client.post("/sign-in/code/", {"code": code_of(secret)})
    clock.wait(2)
    late = client.post("/sign-in/code/", {"code": code_of(secret)})

    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert (early.status_code, late.status_code) == (429, 302)


def test_a_new_password_does_not_begin_the_count_of_codes_again(clock: Clock) -> None:
    with_second_factor(a_user(EMAIL, PASSWORD))
    codes = []
    for _ in range(3):
        client = Client()
        sign_in(client)
        codes += [client.post("/sign-in/code/", {"code": "000000"}).status_code for _ in range(2)]

    assert codes == [200] * 5 + [429]


def test_the_old_password_cannot_be_guessed_in_a_stolen_session(clock: Clock) -> None:
    client = Client()
    client.force_login(a_user(EMAIL, PASSWORD))
    new = {"password1": PASSWORD + "2", "password2": PASSWORD + "2"}

    answers = [
        client.post("/account/password/", {"oldpassword": "x", **new}).status_code for _ in range(6)
    ]
    again = client.post("/sign-in/again/", {"password": "x"})

    assert answers == [200] * 5 + [429]
    assert again.status_code == 429


def test_failures_are_forgotten_after_a_day(client: Client, clock: Clock) -> None:
    for _ in range(5):
        fail(client)
    clock.wait(25 * 3600)

    assert [fail(client).status_code for _ in range(6)] == [200] * 5 + [429]
    clock.wait(25 * 3600)
    assert forgotten_delete() == SignInDelay.objects.count() + 2
    assert not SignInDelay.objects.exists()


def test_the_audit_log_is_not_flooded(client: Client, clock: Clock) -> None:
    for _ in range(60):
        fail(client)

    assert AccessEntry.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_tries_at_once_are_all_counted() -> None:
    """From several threads with connections of their own, as several web processes have."""
    passed: list[int] = []

    def guess() -> None:
        try:
            try_begin(own=key_of("password account", EMAIL), address=None)
            passed.append(1)
        except TooSoonError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=guess) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(passed) == 5
    assert SignInDelay.objects.get().failures == 5
