"""Changing one's own e-mail address, from the page to the mail and back."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from tests.factories import a_member, a_project, a_user
from tests.transcripts.sign_in.people import EMAIL, PASSWORD, is_in, sign_in
from transcripts.choices import AccessAction
from transcripts.models import AccessEntry, User
from transcripts.services.members import AddressTakenError, person_readdress
from transcripts.sign_in import new_address

pytestmark = pytest.mark.django_db
NEW = "new-lead@desk.example"


@pytest.fixture(autouse=True)
def mail_server(settings: Any) -> None:
    settings.AGENTDESK_SENDS_MAIL = True


@pytest.fixture
def person() -> User:
    return a_user(EMAIL, PASSWORD)


@pytest.fixture
def signed_in(client: Client, person: User) -> Client:
    """Somebody who has just shown their password once more."""
    sign_in(client)
    answer = client.get("/account/address/")
    assert answer.headers["Location"] == "/sign-in/again/?next=%2Faccount%2Faddress%2F"
    client.post(answer.headers["Location"], {"password": PASSWORD})
    return client


def asked(client: Client, email: str = NEW) -> Any:
    return client.post("/account/address/", {"email": email})


def link_of(message: Any) -> str:
    found = re.search(r"/account/address/\S+/", message.body)
    assert found is not None
    return found[0]


def test_the_new_address_is_confirmed_from_its_mailbox(signed_in: Client, person: User) -> None:
    # As a provider's sign-in leaves it.
    EmailAddress.objects.create(user=person, email=EMAIL, verified=True, primary=True)

    page = asked(signed_in).content.decode()
    (message,) = mail.outbox
    unchanged = User.objects.get(pk=person.pk).email
    shown = signed_in.get(link_of(message)).content.decode()
    still = User.objects.get(pk=person.pk).email
    signed_in.post(link_of(message))

    assert f"on its way to <b>{NEW}</b>" in page
    assert message.to == [NEW]
    assert (unchanged, still) == (EMAIL, EMAIL)
    assert f"<b>{NEW}</b> from now on" in shown
    assert User.objects.get(pk=person.pk).email == NEW
    line = AccessEntry.objects.get(action=AccessAction.ADDRESS)
    assert (line.user_id, line.address, line.detail) == (
        person.pk, "127.0.0.1", {"before": EMAIL, "after": NEW},
    )  # fmt: skip
    told = mail.outbox[1]
    assert (told.to, NEW in told.body) == ([EMAIL], True)
    other = Client()
    sign_in(other, EMAIL)
    assert not is_in(other)
    sign_in(other, NEW)
    assert is_in(other)


def test_the_mail_is_text_and_html(signed_in: Client, settings: Any) -> None:
    asked(signed_in)

    (message,) = mail.outbox
    ((html, kind),) = message.alternatives
    assert kind == "text/html"
    assert f'href="{settings.AGENTDESK_URL}{link_of(message)}"' in html
    assert not re.search(r"(src|srcset)=|<(script|link|img|style)", html)


def test_administrators_see_the_change_from_and_to(signed_in: Client, person: User) -> None:
    admin, project = a_user("admin@desk.example", PASSWORD), a_project()
    a_member(project, "admin", user=admin)
    a_member(project, "lead", user=person)
    asked(signed_in)
    signed_in.post(link_of(mail.outbox[0]))

    client = Client()
    client.force_login(admin)
    page = client.get(f"/p/{project.slug}/settings/access/").content.decode()

    assert "changed e-mail address" in page
    assert f"<del>{EMAIL}</del> → <ins>{NEW}</ins>" in page


def test_a_password_is_asked_for_again(client: Client, person: User) -> None:
    sign_in(client)

    answer = asked(client)

    assert answer.headers["Location"].startswith("/sign-in/again/")
    assert mail.outbox == []


def test_a_link_works_once(signed_in: Client, person: User) -> None:
    asked(signed_in)
    link = link_of(mail.outbox[0])
    signed_in.post(link)

    assert signed_in.post(link).status_code == 410
    assert AccessEntry.objects.filter(action=AccessAction.ADDRESS).count() == 1


def test_a_link_ends_after_a_day(
    signed_in: Client, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(signed_in)
    link = link_of(mail.outbox[0])

    monkeypatch.setattr(new_address, "SECONDS", -1)

    assert signed_in.post(link).status_code == 410
    assert User.objects.get(pk=person.pk).email == EMAIL


def test_who_else_opens_the_link_changes_nothing(signed_in: Client, person: User) -> None:
    """A mistyped address is somebody else's, who would then own the account."""
    a_user(NEW.replace("new", "third"), PASSWORD)
    asked(signed_in)
    link = link_of(mail.outbox[0])
    stranger, third = Client(), Client()
    sign_in(third, NEW.replace("new", "third"))

    assert stranger.post(link).headers["Location"].startswith("/sign-in/?next=")
    assert third.post(link).status_code == 410
    assert User.objects.get(pk=person.pk).email == EMAIL


@pytest.mark.parametrize("token", ["x", "a:b:c", "%00"])
def test_a_link_that_was_made_up_is_over(signed_in: Client, token: str) -> None:
    assert signed_in.get(f"/account/address/{token}/").status_code == 410


def test_an_address_with_an_account_is_answered_alike_and_its_owner_told(
    signed_in: Client, person: User
) -> None:
    a_user(NEW, PASSWORD)

    page = asked(signed_in, NEW.upper())
    free = asked(signed_in, "free@desk.example")

    told, link = mail.outbox
    assert (told.to[0].lower(), "/account/address/" in told.body) == (NEW, False)
    assert link.to == ["free@desk.example"]
    assert (page.status_code, free.status_code) == (200, 200)


def test_an_address_that_has_got_an_account_since_is_not_taken(
    signed_in: Client, person: User
) -> None:
    asked(signed_in)
    a_user(NEW.capitalize(), PASSWORD)

    assert signed_in.post(link_of(mail.outbox[0])).status_code == 410
    assert User.objects.get(pk=person.pk).email == EMAIL
    with pytest.raises(AddressTakenError):
        person_readdress(user=person, email=NEW)


@pytest.mark.parametrize("email", ["", "no address", EMAIL, "a" * 250 + "@b.example"])
def test_says_what_is_no_new_address(signed_in: Client, email: str) -> None:
    answer = asked(signed_in, email)

    assert answer.status_code == 422
    assert 'class="errorlist"' in answer.content.decode()
    assert mail.outbox == []


def test_nobodys_mailbox_is_filled(signed_in: Client) -> None:
    answers = [asked(signed_in).status_code for _ in range(8)]

    assert answers[-1] == 429
    assert len(mail.outbox) < 8


def test_a_link_for_a_new_password_of_the_old_address_ends(signed_in: Client, person: User) -> None:
    from transcripts.mail import password_link_path

    link = password_link_path(person)
    person_readdress(user=person, email=NEW)

    assert b"no longer works" in Client().get(link, follow=True).content


def test_without_mail_it_says_who_can(signed_in: Client, settings: Any) -> None:
    settings.AGENTDESK_SENDS_MAIL = False

    page = asked(signed_in).content.decode()

    assert "./desk manage change_address" in page


def test_the_command_changes_it_and_says_so(person: User) -> None:
    out = io.StringIO()

    call_command("change_address", EMAIL.upper(), NEW, stdout=out)

    assert out.getvalue() == f"{EMAIL} signs in with {NEW} now.\n"
    assert User.objects.get(pk=person.pk).email == NEW
    assert AccessEntry.objects.get().who == "on the server"


def test_the_command_says_what_is_wrong(person: User) -> None:
    a_user("taken@desk.example", PASSWORD)

    for old, new, words in (
        ("nobody@desk.example", NEW, "no such account"),
        (EMAIL, "taken@desk.example", "Another account"),
        (EMAIL, "no address", "no e-mail address"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("change_address", old, new)
