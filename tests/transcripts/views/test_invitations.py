from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import a_member, a_project, a_user
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Invitation, Membership, Project, User

pytestmark = pytest.mark.django_db
WORDS = "tall-orchid-in-the-hall-9917"
NEW = {"name": "Nia", "password": WORDS, "again": WORDS}
GUEST = "guest@desk.example"


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> User:
    user = a_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def invite(client: Client, email: str = GUEST, role: str = "lead") -> str:
    """The path of the link that the administrator is shown."""
    address = reverse("transcripts:member_list", args=["helpdesk"])
    page = client.post(address, {"email": email, "role": role}).content.decode()
    return link_on(page)


def link_on(page: str) -> str:
    found = re.search(r'id="shown-once">http://testserver([^<]+)<', page)
    assert found, page
    return found[1]


def test_who_is_invited_chooses_a_password_and_is_in(client: Client, admin: User) -> None:
    link = invite(client)
    theirs = Client()

    shown = theirs.get(link).content.decode()
    done = theirs.post(link, NEW, follow=True)

    assert "You are invited as lead" in shown
    assert done.request["PATH_INFO"] == "/p/helpdesk/runs/"
    membership = Membership.objects.get(user__email=GUEST)
    assert (membership.role, membership.user.name) == (Role.LEAD, "Nia")
    assert membership.user.check_password(WORDS)
    lines = [(line.action, line.detail) for line in AccessEntry.objects.order_by("pk")]
    assert lines == [
        (AccessAction.INVITE, {"invited": GUEST, "role": "lead", "mailed": False}),
        (AccessAction.MEMBER, {"joined": GUEST, "role": "lead"}),
        (AccessAction.SIGN_IN, {"with": ""}),
    ]


def test_there_is_no_account_before_the_link_is_taken(client: Client, admin: User) -> None:
    invite(client)

    assert not User.objects.filter(email=GUEST).exists()


def test_the_link_is_shown_once_and_kept_nowhere(client: Client, admin: User) -> None:
    token = invite(client).split("/")[2]

    page = client.get(reverse("transcripts:member_list", args=["helpdesk"])).content.decode()

    assert GUEST in page
    assert token not in page
    assert token.encode() not in bytes(Invitation.objects.get().digest)


def test_the_link_works_once(client: Client, admin: User) -> None:
    link = invite(client)
    Client().post(link, NEW)

    again = Client().post(link, NEW)

    assert again.status_code == 404
    assert "no longer works" in again.content.decode()
    assert User.objects.filter(email=GUEST).count() == 1


def test_an_old_link_does_not_work(client: Client, admin: User) -> None:
    link = invite(client)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert Client().get(link).status_code == 404
    assert Client().post(link, NEW).status_code == 404
    page = client.get(reverse("transcripts:member_list", args=["helpdesk"])).content.decode()
    assert "too old" in page
    assert not User.objects.filter(email=GUEST).exists()


def test_a_new_link_ends_the_old_one(client: Client, admin: User) -> None:
    old = invite(client)
    pk = Invitation.objects.get().pk

    page = client.post(reverse("transcripts:invitation_again", args=["helpdesk", pk]))
    new = link_on(page.content.decode())

    assert Client().get(old).status_code == 404
    assert Client().get(new).status_code == 200
    assert Invitation.objects.get().role == Role.LEAD


def test_a_withdrawn_invitation_lets_nobody_in(client: Client, admin: User) -> None:
    link = invite(client)
    pk = Invitation.objects.get().pk

    client.post(reverse("transcripts:invitation_withdraw", args=["helpdesk", pk]))

    assert Client().post(link, NEW).status_code == 404
    assert AccessEntry.objects.latest("pk").detail == {"withdrawn": GUEST}


@pytest.mark.parametrize("name", ["invitation_again", "invitation_withdraw"])
def test_an_invitation_to_another_project_is_not_found(
    client: Client, admin: User, name: str
) -> None:
    other = Invitation.objects.create(
        project=a_project(), email=GUEST, digest=b"d" * 32, expires_at=timezone.now()
    )

    assert (
        client.post(reverse(f"transcripts:{name}", args=["helpdesk", other.pk])).status_code == 404
    )
    assert Invitation.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({**NEW, "again": "other"}, "are not the same"),
        ({**NEW, "password": "short", "again": "short"}, "at least 12 characters"),
        ({**NEW, "password": "password1234567", "again": "password1234567"}, ""),
        ({**NEW, "password": GUEST, "again": GUEST}, "too similar to the email"),
        ({"name": "Nia"}, "This field is required"),
    ],
)
def test_a_weak_password_is_refused(
    client: Client, admin: User, fields: dict[str, str], said: str
) -> None:
    link = invite(client)

    answer = Client().post(link, fields)

    if said:
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not User.objects.filter(email=GUEST).exists()
        assert Client().get(link).status_code == 200


def test_the_address_and_role_are_the_invitations_own(client: Client, admin: User) -> None:
    link = invite(client)

    Client().post(link, {**NEW, "email": "other@desk.example", "role": "admin", "is_active": "x"})

    membership = Membership.objects.get(user__email=GUEST)
    assert membership.role == Role.LEAD
    assert not User.objects.filter(email="other@desk.example").exists()


def test_somebody_elses_invitation_is_not_taken(client: Client, admin: User) -> None:
    link = invite(client)
    other = Client()
    person = a_user("other@desk.example")
    other.force_login(person)

    shown = other.get(link)
    taken = other.post(link, NEW)

    assert "This invitation is for somebody else" in shown.content.decode()
    assert "This invitation is for somebody else" in taken.content.decode()
    assert not Membership.objects.filter(user=person).exists()


def test_who_has_got_an_account_since_joins_with_it(client: Client, admin: User) -> None:
    link = invite(client)
    person = a_user("Guest@desk.example", "an-old-password")
    theirs = Client()

    as_stranger = Client().post(link, NEW)
    theirs.force_login(person)
    theirs.post(link)

    assert as_stranger.status_code == 404
    person.refresh_from_db()
    assert person.check_password("an-old-password")
    assert Membership.objects.get(user=person).role == Role.LEAD


def test_the_link_is_mailed_where_mail_is_sent(
    client: Client, admin: User, settings: object
) -> None:
    settings.AGENTDESK_SENDS_MAIL = True  # type: ignore[attr-defined]

    link = invite(client)

    (sent,) = mail.outbox
    assert sent.to == [GUEST]
    assert f"http://testserver{link}" in sent.body
    assert "as lead" in sent.body


def test_mail_that_does_not_go_is_said(client: Client, admin: User, settings: object) -> None:
    settings.AGENTDESK_SENDS_MAIL = True  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined]
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1  # type: ignore[attr-defined]
    address = reverse("transcripts:member_list", args=["helpdesk"])

    page = client.post(address, {"email": GUEST, "role": "lead"}).content.decode()

    assert "The mail could not be sent" in page
    assert Client().get(link_on(page)).status_code == 200


def test_there_is_no_open_registration(client: Client) -> None:
    for address in ("/sign-up/", "/signup/", "/accounts/signup/", "/account/signup/"):
        assert client.get(address).status_code == 404
        assert client.post(address, {"email": GUEST, "password1": WORDS}).status_code == 404
    assert not User.objects.exists()
