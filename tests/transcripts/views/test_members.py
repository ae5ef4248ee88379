from __future__ import annotations

import pytest
from django.db import OperationalError, transaction
from django.test import Client
from django.urls import reverse

from tests.factories import a_member, a_project, a_user
from tests.transcripts.sign_in.people import with_second_factor
from transcripts.access import reader_for
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Change, Membership, Project, User
from transcripts.services.member_undo import member_as_before
from transcripts.services.members import person_rename
from transcripts.undo import UndoError

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> User:
    user = a_member(project, Role.ADMIN)
    client.force_login(user)
    return user


def page_of(project: Project) -> str:
    return reverse("transcripts:member_list", args=[project.slug])


def change(client: Client, project: Project, user: User, **fields: str) -> str:
    membership = Membership.objects.get(project=project, user=user)
    address = reverse("transcripts:member_change", args=[project.slug, membership.pk])
    return client.post(address, fields, follow=True).content.decode()


def remove(client: Client, project: Project, user: User) -> str:
    membership = Membership.objects.get(project=project, user=user)
    address = reverse("transcripts:member_remove", args=[project.slug, membership.pk])
    return client.post(address, follow=True).content.decode()


def role_of(project: Project, user: User) -> str | None:
    found = Membership.objects.filter(project=project, user=user).first()
    return found.role if found else None


def test_adds_who_has_an_account(client: Client, project: Project, admin: User) -> None:
    person = a_user("anna@desk.example")

    answer = client.post(page_of(project), {"email": "Anna@Desk.example", "role": "engineer"})

    assert answer.status_code == 302
    assert role_of(project, person) == Role.ENGINEER
    line = AccessEntry.objects.get(action=AccessAction.MEMBER)
    rights = {"role": "engineer", "restricted": False}
    assert line.detail == {"added": "Anna@Desk.example", "before": None, "after": rights}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"email": "no address", "role": "lead"}, "Enter a valid email address"),
        ({"email": "a@desk.example", "role": "king"}, "is not one of the available choices"),
    ],
)
def test_says_what_is_wrong(
    client: Client, project: Project, admin: User, fields: dict[str, str], said: str
) -> None:
    answer = client.post(page_of(project), fields)

    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_a_member_is_added_once(client: Client, project: Project, admin: User) -> None:
    answer = client.post(page_of(project), {"email": admin.email.upper(), "role": "lead"})

    assert "is a member already" in answer.content.decode()
    assert role_of(project, admin) == Role.ADMIN


def test_changes_role_and_restricted(client: Client, project: Project, admin: User) -> None:
    person = a_member(project, Role.OBSERVER)

    change(client, project, person, role="lead", restricted="on")

    membership = Membership.objects.get(project=project, user=person)
    assert (membership.role, membership.restricted) == (Role.LEAD, True)


def test_the_last_administrator_stays(client: Client, project: Project, admin: User) -> None:
    changed = change(client, project, admin, role="lead")
    removed = remove(client, project, admin)

    assert "keeps at least one administrator" in changed
    assert "keeps at least one administrator" in removed
    assert role_of(project, admin) == Role.ADMIN


def test_an_administrator_may_leave_others_behind(
    client: Client, project: Project, admin: User
) -> None:
    a_member(project, Role.ADMIN)

    page = remove(client, project, admin)

    assert role_of(project, admin) is None
    assert "You are in no project yet" in page


def test_removes_a_member_and_not_the_person(client: Client, project: Project, admin: User) -> None:
    person = a_member(project, Role.LEAD)

    remove(client, project, person)

    assert role_of(project, person) is None
    assert User.objects.filter(pk=person.pk).exists()
    rights = {"role": "lead", "restricted": False}
    assert AccessEntry.objects.get().detail == {
        "removed": person.email,
        "before": rights,
        "after": None,
    }


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Anna\tLee ", "Anna Lee"),
        ("Anna\u202enimdA\u2066\u200b", "AnnanimdA"),
        ("\x1b[31mred\x00", "[31mred"),
        ("\u0645\u06cc\u200c\u062e\u0648", "\u0645\u06cc\u200c\u062e\u0648"),
    ],
)
def test_a_name_cannot_be_made_to_look_like_anothers(
    client: Client, admin: User, typed: str, kept: str
) -> None:
    person_rename(user=admin, name=typed)

    admin.refresh_from_db()
    assert admin.name == kept
    assert a_user(name=typed).name == kept


def test_the_log_tells_what_a_change_was_from_and_to(
    client: Client, project: Project, admin: User
) -> None:
    member = Membership.objects.get(user=a_member(project, Role.LEAD))
    address = reverse("transcripts:member_change", args=[project.slug, member.pk])

    client.post(address, {"role": "engineer", "restricted": "on"})

    assert AccessEntry.objects.get().detail == {
        "changed": member.user.email,
        "before": {"role": "lead", "restricted": False},
        "after": {"role": "engineer", "restricted": True},
    }


def test_a_change_whose_line_cannot_be_written_is_not_made(
    client: Client, project: Project, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a person does on a page, the log knows of it."""

    def full(**_: object) -> None:
        raise OperationalError("disk full")

    member = Membership.objects.get(user=a_member(project, Role.LEAD))
    address = reverse("transcripts:member_change", args=[project.slug, member.pk])
    monkeypatch.setattr("transcripts.pages.access_record", full)

    with pytest.raises(OperationalError):
        client.post(address, {"role": "admin"})

    member.refresh_from_db()
    assert member.role == Role.LEAD


def taken_back(client: Client, project: Project) -> str:
    """Press Undo; what the page says then."""
    change = Change.objects.latest("pk")
    address = reverse("transcripts:change_back", args=[project.slug, change.pk])
    return client.post(address, {"next": page_of(project)}, follow=True).content.decode()


def test_who_was_added_is_taken_out_again(client: Client, project: Project, admin: User) -> None:
    person = a_user("anna@desk.example")
    client.post(page_of(project), {"email": "anna@desk.example", "role": "engineer"})

    page = taken_back(client, project)

    assert "They are no longer a member." in page
    assert role_of(project, person) is None
    line = AccessEntry.objects.get(action=AccessAction.UNDO)
    assert line.detail["kind"] == "member_changed"


def test_a_project_keeps_an_administrator_whoever_takes_what_back(
    client: Client, project: Project, admin: User
) -> None:
    """The one who was made administrator is the only one left."""
    second = a_member(project, Role.LEAD)
    change(client, project, second, role="admin")
    Membership.objects.filter(user=admin).update(role=Role.OBSERVER)
    reader = reader_for(admin, project.slug)
    noted = Change.objects.latest("pk").before

    with pytest.raises(UndoError, match="at least one administrator"), transaction.atomic():
        member_as_before(reader, noted)

    assert role_of(project, second) == Role.ADMIN


def test_giving_up_ones_own_role_offers_no_way_back(
    client: Client, project: Project, admin: User
) -> None:
    """Who is no administrator any more may not make one."""
    a_member(project, Role.ADMIN)

    page = change(client, project, admin, role="lead")

    assert not Change.objects.exists()
    assert "/undo/" not in page


def test_requiring_a_factor_is_taken_back(client: Client, project: Project, admin: User) -> None:
    Project.objects.filter(pk=project.pk).update(require_second_factor=True)
    with_second_factor(admin)
    address = reverse("transcripts:second_factor", args=[project.slug])
    client.post(address)
    page = taken_back(client, project)
    project.refresh_from_db()
    required = project.require_second_factor
    client.post(address)
    client.post(address, {"required": "on"})
    Change.objects.latest("pk").delete()

    told = taken_back(client, project)

    assert "Every member needs a second factor, as before." in page
    assert required
    assert "Somebody has changed it again since." in told


def test_a_member_of_another_project_is_not_found(
    client: Client, project: Project, admin: User
) -> None:
    other = a_project()
    membership = Membership.objects.get(user=a_member(other, Role.LEAD))

    answer = client.post(reverse("transcripts:member_remove", args=[project.slug, membership.pk]))

    assert answer.status_code == 404
    assert Membership.objects.filter(pk=membership.pk).exists()


def test_a_change_without_the_forms_token_is_refused(project: Project) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_member(project, Role.ADMIN))

    answer = client.post(page_of(project), {"email": "x@desk.example", "role": "admin"})

    assert answer.status_code == 403
    assert "Send it once more" in answer.content.decode()
    assert Membership.objects.count() == 1
