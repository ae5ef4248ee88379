"""Changes that people take back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import a_member, a_project
from transcripts import undo
from transcripts.access import May, Reader, reader_for
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Change, Project, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def named() -> Iterator[None]:
    """A change of a project's name, which leads may take back."""

    @undo.undoes("project_name", may=May.TRIAGE)
    def _back(reader: Reader, before: Mapping[str, Any]) -> str:
        if reader.project.name != "New":
            raise undo.UndoError("Somebody has named it again since.")
        Project.objects.filter(pk=before["pk"]).update(name="Old")
        return "It has its old name again."

    yield
    del undo._KINDS["project_name"]


def renamed(user: User, project: Project) -> Change:
    reader = reader_for(user, project.slug)
    change = undo.change_note(reader=reader, kind="project_name", before={"pk": project.pk})
    Project.objects.filter(pk=project.pk).update(name="New")
    return change


def asked_back(client: Client, project: Project, change: Change, **form: str) -> Any:
    address = reverse("transcripts:change_back", args=[project.slug, change.pk])
    return client.post(address, form, follow=True)


@pytest.mark.usefixtures("named")
def test_it_changes_the_row_back_once_and_leaves_a_line(client: Client) -> None:
    project = a_project()
    lead = a_member(project, Role.LEAD)
    client.force_login(lead)
    change = renamed(lead, project)

    first = asked_back(client, project, change)
    second = asked_back(client, project, change)

    project.refresh_from_db()
    assert project.name == "Old"
    assert "It has its old name again." in first.content.decode()
    assert "This was taken back already." in second.content.decode()
    assert AccessEntry.objects.filter(action=AccessAction.UNDO, user_id=lead.pk).count() == 1


@pytest.mark.usefixtures("named")
def test_it_refuses_what_went_on_what_is_old_and_what_is_anothers(client: Client) -> None:
    project = a_project()
    lead, other = a_member(project, Role.LEAD), a_member(project, Role.LEAD)
    moved, old, foreign = renamed(lead, project), renamed(lead, project), renamed(other, project)
    Project.objects.filter(pk=project.pk).update(name="Newer")
    Change.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=2))
    client.force_login(lead)

    said = [asked_back(client, project, each) for each in (moved, old, foreign)]

    assert "Somebody has named it again since." in said[0].content.decode()
    assert "too long ago" in said[1].content.decode()
    assert said[2].status_code == 404
    project.refresh_from_db()
    assert project.name == "Newer"


@pytest.mark.usefixtures("named")
def test_a_role_that_may_not_change_may_not_undo(client: Client) -> None:
    project = a_project()
    observer = a_member(project, Role.OBSERVER)
    client.force_login(observer)

    assert asked_back(client, project, renamed(observer, project)).status_code == 403


@pytest.mark.usefixtures("named")
def test_it_goes_back_to_no_other_site(client: Client) -> None:
    project = a_project()
    lead = a_member(project, Role.LEAD)
    client.force_login(lead)

    answer = asked_back(client, project, renamed(lead, project), next="https://evil.example/")

    assert answer.redirect_chain[0][0] == reverse("analysis:run_list", args=[project.slug])


@pytest.mark.usefixtures("named")
def test_old_changes_are_forgotten() -> None:
    project = a_project()
    lead = a_member(project, Role.LEAD)
    old, new = renamed(lead, project), renamed(lead, project)
    Change.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=2))

    undo.changes_forget()

    assert list(Change.objects.all()) == [new]
