"""Sending a first run, exporting one, the way in, light and dark, and what a person sees of
errors.
"""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client, override_settings
from django.urls import reverse
from django.utils.html import escape

from tests.factories import a_key, a_member, a_project, a_user
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, KeyScope, Role
from transcripts.export import all_exporters
from transcripts.importers import read_runs
from transcripts.models import AccessEntry, Project
from transcripts.record import RunRecord

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


def test_an_export_is_the_run_again(client: Client, project: Project) -> None:
    run = the_vpn_run(project)
    client.force_login(a_member(project, Role.ENGINEER))

    answer = client.get(reverse("transcripts:run_export", args=[project.slug, run.pk]))

    (record,) = read_runs(answer.content)
    assert isinstance(record, RunRecord)
    assert len(record.rounds) == 52
    assert b"Quarter-End-7731" not in answer.content
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="vpn-20931.')
    assert AccessEntry.objects.get(action=AccessAction.EXPORT).detail == {"as": "native"}


def test_the_menu_names_each_format_and_what_it_cannot_hold(
    client: Client, project: Project
) -> None:
    run = the_vpn_run(project)
    client.force_login(a_member(project, Role.ENGINEER))

    page = client.get(reverse("analysis:run_detail", args=[project.slug, run.pk])).content.decode()

    address = reverse("transcripts:run_export", args=[project.slug, run.pk])
    for exporter in all_exporters():
        assert f'href="{address}?as={exporter.name}"' in page
        for words in exporter.cannot_hold:
            assert f"<li>{escape(words)}</li>" in page
    client.force_login(a_member(project, Role.LEAD))
    page = client.get(reverse("analysis:run_detail", args=[project.slug, run.pk])).content.decode()
    assert address not in page


@pytest.mark.parametrize("name", [exporter.name for exporter in all_exporters()])
def test_page_api_and_command_write_the_same(client: Client, project: Project, name: str) -> None:
    run = the_vpn_run(project)
    client.force_login(a_member(project, Role.ENGINEER))
    _, key = a_key(project, KeyScope.READ)
    bearer = Client(headers={"Authorization": f"Bearer {key}"})
    printed = StringIO()

    page = client.get(reverse("transcripts:run_export", args=[project.slug, run.pk]), {"as": name})
    by_as = bearer.get(f"/api/v1/runs/{run.run_id}/export", {"as": name})
    by_format = bearer.get(f"/api/v1/runs/{run.run_id}/export", {"format": name})
    call_command("export_run", run.run_id, as_=name, stdout=printed, stderr=StringIO())

    written = {page.content, by_as.content, by_format.content, printed.getvalue().encode()}
    assert len(written) == 1
    assert b"Quarter-End-7731" not in page.content
    assert AccessEntry.objects.filter(action=AccessAction.EXPORT).count() == 4


def test_a_file_name_holds_no_more_than_a_name(client: Client, project: Project) -> None:
    from tests.builders import a_run, call

    run = a_shown_run(a_run([call()], "Done.", run_id='../../e"\r\nX: y'), project)
    client.force_login(a_member(project, Role.ENGINEER))

    answer = client.get(reverse("transcripts:run_export", args=[project.slug, run.pk]))

    assert answer.headers["Content-Disposition"] == 'attachment; filename="e-X-y.json"'


def test_an_unknown_format_is_refused(client: Client, project: Project) -> None:
    run = the_vpn_run(project)
    client.force_login(a_member(project, Role.ENGINEER))

    address = reverse("transcripts:run_export", args=[project.slug, run.pk])

    assert client.get(address, {"as": "exe"}).status_code == 400


def test_signing_in_leads_to_the_first_project(client: Client, project: Project) -> None:
    a_member(project, Role.LEAD, user=a_user("lead@desk.example", "right"))

    wrong = client.post(reverse("account_login"), {"login": "lead@desk.example", "password": "no"})
    right = client.post(
        reverse("account_login"), {"login": "lead@desk.example", "password": "right"}, follow=True
    )

    assert "do not match" in wrong.content.decode()
    assert "./desk manage changepassword EMAIL" in wrong.content.decode()
    assert right.request["PATH_INFO"] == "/p/helpdesk/runs/"


def test_who_is_in_no_project_is_told_so(client: Client) -> None:
    client.force_login(a_user())

    assert "You are in no project yet" in client.get("/").content.decode()


def test_signing_out(client: Client, project: Project) -> None:
    client.force_login(a_member(project))

    client.post(reverse("account_logout"))

    assert client.get("/p/helpdesk/runs/").status_code == 302


def test_a_person_changes_their_password(client: Client, project: Project) -> None:
    person = a_user("lead@desk.example", "first-pass-4417")
    a_member(project, Role.LEAD, user=person)
    client.force_login(person)
    new = {"password1": "second-pass-4417", "password2": "second-pass-4417"}

    wrong = client.post(reverse("account_change_password"), {"oldpassword": "no", **new})
    right = client.post(
        reverse("account_change_password"), {"oldpassword": "first-pass-4417", **new}, follow=True
    )

    assert "This is not your password" in wrong.content.decode()
    assert "Your password is changed" in right.content.decode()
    person.refresh_from_db()
    assert person.check_password("second-pass-4417")


def test_changing_a_password_takes_signing_in(client: Client) -> None:
    assert client.get(reverse("account_change_password")).status_code == 302


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_light_and_dark_are_kept(client: Client, theme: str) -> None:
    answer = client.post(reverse("theme"), {"theme": theme, "next": "/sign-in/"})

    assert answer.headers["Location"] == "/sign-in/"
    assert f'data-theme="{theme}"' in client.get("/sign-in/").content.decode()


@pytest.mark.parametrize(
    ("fields", "status", "location"),
    [
        ({"theme": "pink"}, 400, None),
        ({"theme": "dark", "next": "https://evil.example/"}, 302, "/"),
    ],
)
def test_other_themes_and_places_are_refused(
    client: Client, fields: dict[str, str], status: int, location: str | None
) -> None:
    answer = client.post(reverse("theme"), fields)

    assert answer.status_code == status
    assert answer.headers.get("Location") == location


def test_a_broken_theme_cookie_is_passed_over(client: Client) -> None:
    client.cookies["theme"] = '"><script>'

    assert 'data-theme="auto"' in client.get("/sign-in/").content.decode()


def test_the_switcher_names_each_project_of_the_person(client: Client, project: Project) -> None:
    person = a_member(project)
    a_member(a_project("invoices"), user=person)
    a_project("secret")
    client.force_login(person)

    text = client.get("/p/helpdesk/runs/").content.decode()

    assert "/p/invoices/runs/" in text
    assert "secret" not in text


def test_not_found_says_what_to_do(client: Client, project: Project) -> None:
    client.force_login(a_member(project))

    answer = client.get("/p/nope/runs/")

    assert answer.status_code == 404
    assert "Go to my runs" in answer.content.decode()


@override_settings(ROOT_URLCONF="tests.transcripts.views.breaking_urls")
def test_a_broken_page_says_that_nothing_is_lost() -> None:
    client = Client(raise_request_exception=False)

    answer = client.get("/")

    assert answer.status_code == 500
    assert "Nothing that was accepted is lost" in answer.content.decode()


def test_pages_tell_browsers_to_run_nothing_foreign(client: Client) -> None:
    policy = client.get("/sign-in/").headers["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert json.dumps("*") not in policy
