from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import a_key, a_member, a_project
from transcripts.choices import AccessAction, KeyScope, Role
from transcripts.models import AccessEntry, ApiKey, Project
from transcripts.services.api_keys import key_digest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def admin(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


def page_of(project: Project) -> str:
    return reverse("transcripts:key_list", args=[project.slug])


def test_a_new_key_is_shown_once(admin: Client, project: Project) -> None:
    made = admin.post(page_of(project), {"name": "agent", "scopes": ["ingest", "read"]})
    again = admin.get(page_of(project))

    key = ApiKey.objects.get()
    shown = re.search(r'id="new-key">([^<]+)<', made.content.decode())
    assert shown
    assert bytes(key.digest) == key_digest(shown[1])
    assert shown[1] not in again.content.decode()
    assert "send runs, read runs" in again.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert AccessEntry.objects.get(action=AccessAction.KEY).detail["made"] == key.prefix


def test_a_key_needs_a_scope(admin: Client, project: Project) -> None:
    answer = admin.post(page_of(project), {"name": "agent"})

    assert answer.status_code == 422
    assert "Say what the key may do." in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_revoked_key_stays_in_the_list(admin: Client, project: Project) -> None:
    key, _ = a_key(project, KeyScope.READ)

    page = admin.post(
        reverse("transcripts:key_revoke", args=[project.slug, key.pk]), follow=True
    ).content.decode()

    key.refresh_from_db()
    assert key.revoked_at
    assert ">revoked</span>" in page
    assert AccessEntry.objects.get(action=AccessAction.KEY).detail == {"revoked": key.prefix}


def test_a_key_of_another_project_is_not_found(admin: Client, project: Project) -> None:
    key, _ = a_key(a_project())

    answer = admin.post(reverse("transcripts:key_revoke", args=[project.slug, key.pk]))

    key.refresh_from_db()
    assert answer.status_code == 404
    assert key.revoked_at is None
