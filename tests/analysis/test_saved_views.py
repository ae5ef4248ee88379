"""Views of the list: saved, shared, shown first, changed and brought back; and columns."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from analysis.lists.filters import RunFilter
from analysis.models import ColumnChoice, SavedView
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import Role
from transcripts.models import Change, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def signed_in(project: Project, role: Role) -> Client:
    client = Client()
    client.force_login(a_member(project, role))
    return client


def save(client: Client, project: Project, name: str, **form: str) -> None:
    address = reverse("analysis:view_save", args=[project.slug])
    client.post(address, {"name": name, "list": "tab=all&agent=billing&sort=cost", **form})


def seen(client: Client, project: Project) -> list[str]:
    page = client.get(reverse("analysis:run_list", args=[project.slug]), {"tab": "all"})
    return [str(view.name) for view, _ in page.context["views"]]


def test_a_view_is_the_lists_state_under_a_name(project: Project) -> None:
    client = signed_in(project, Role.OBSERVER)

    save(client, project, "Dear ones")
    save(client, project, "Dear ones", list="tab=all&agent=billing")

    view = SavedView.objects.get()
    assert (view.query, view.shared) == ("tab=all&agent=billing", False)
    page = client.get(
        f"{reverse('analysis:run_list', args=[project.slug])}?{view.query}&view={view.pk}"
    )
    assert "<h1>Dear ones</h1>" in page.content.decode()


def test_a_secret_in_a_view_is_masked(project: Project) -> None:
    """In a query string it is no longer in the words that it is recognised by."""
    typed = {"q": "The password is Kestrel_Falls_4417/q", "agent": 'desk {"api_key": "Zx9Kq2Wm4"}'}

    save(signed_in(project, Role.LEAD), project, "odd", list=urlencode({**typed, "since": "7d"}))

    view = SavedView.objects.get()
    assert "Kestrel" not in view.query
    assert "Zx9Kq2Wm4" not in view.query
    kept = RunFilter.of_text(view.query)
    assert (kept.q[:24], kept.since) == ("The password is [SECRET:", "7d")


def test_a_view_is_seen_by_others_when_it_is_shared(project: Project) -> None:
    lead, other = signed_in(project, Role.LEAD), signed_in(project, Role.OBSERVER)

    save(lead, project, "own")
    save(lead, project, "ours", shared="1")
    save(other, project, "tried", shared="1")

    assert seen(lead, project) == ["ours", "own"]
    assert seen(other, project) == ["tried", "ours"]


def test_a_role_sees_its_view_first(project: Project) -> None:
    admin, lead = signed_in(project, Role.ADMIN), signed_in(project, Role.LEAD)
    save(admin, project, "for leads")
    view = SavedView.objects.get()
    change = reverse("analysis:view_change", args=[project.slug, view.pk])

    admin.post(change, {"name": "for leads", "default_for": "lead"})
    first = lead.get(reverse("analysis:run_list", args=[project.slug]))

    assert first["Location"].endswith(f"?tab=all&agent=billing&sort=cost&view={view.pk}")
    assert lead.get(first["Location"]).status_code == 200
    assert admin.get(reverse("analysis:run_list", args=[project.slug])).status_code == 200


def test_a_change_and_a_deletion_are_taken_back(project: Project) -> None:
    client = signed_in(project, Role.LEAD)
    save(client, project, "one")
    address = reverse("analysis:view_change", args=[project.slug, SavedView.objects.get().pk])

    client.post(address, {"name": "two", "shared": "1"})
    renamed = SavedView.objects.get()
    client.post(address, {"do": "delete"})
    gone = not SavedView.objects.exists()
    for change in Change.objects.order_by("-pk")[:2]:
        client.post(reverse("transcripts:change_back", args=[project.slug, change.pk]))

    assert (str(renamed.name), renamed.shared, gone) == ("two", True, True)
    assert str(SavedView.objects.get().query) == "tab=all&agent=billing&sort=cost"


def test_nobody_changes_views_of_others(project: Project) -> None:
    save(signed_in(project, Role.LEAD), project, "own")
    address = reverse("analysis:view_change", args=[project.slug, SavedView.objects.get().pk])

    for role in Role:
        assert signed_in(project, role).post(address, {"name": "x"}).status_code == 404


def test_each_person_has_columns(project: Project) -> None:
    a_shown_run(a_run([call()], "Done.", run_id="one", code_version="c-77"), project)
    client, other = signed_in(project, Role.LEAD), signed_in(project, Role.LEAD)
    address = reverse("analysis:run_list", args=[project.slug])

    client.post(
        reverse("analysis:list_columns", args=[project.slug]),
        {"column": ["code", "rounds", "nonsense"], "list": "tab=all"},
    )

    assert ColumnChoice.objects.get().columns == ["rounds", "code"]
    assert ">c-77</td>" in client.get(address, {"tab": "all"}).content.decode()
    assert ">c-77</td>" not in other.get(address, {"tab": "all"}).content.decode()
