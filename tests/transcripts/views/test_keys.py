from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

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
    told = {"name": key.name, "scopes": ["read"], "expires": "never"}
    assert AccessEntry.objects.get(action=AccessAction.KEY).detail == {
        "revoked": key.prefix,
        "before": {**told, "revoked": False},
        "after": {**told, "revoked": True},
    }


def test_a_key_of_another_project_is_not_found(admin: Client, project: Project) -> None:
    key, _ = a_key(a_project())

    answer = admin.post(reverse("transcripts:key_revoke", args=[project.slug, key.pk]))

    key.refresh_from_db()
    assert answer.status_code == 404
    assert key.revoked_at is None


def use(text: str) -> int:
    client = Client(headers={"Authorization": f"Bearer {text}"})
    return client.get("/api/v1/runs").status_code


def shown_key(page: bytes) -> str:
    found = re.search(r'id="new-key">([^<]+)<', page.decode())
    assert found
    return found[1]


def rotate(client: Client, project: Project, key: ApiKey, hours: str) -> str:
    address = reverse("transcripts:key_rotate", args=[project.slug, key.pk])
    return client.post(address, {"hours": hours}, follow=True).content.decode()


def test_a_key_ends_by_itself(admin: Client, project: Project) -> None:
    made = admin.post(page_of(project), {"name": "agent", "scopes": ["read"], "days": "30"})
    text, key = shown_key(made.content), ApiKey.objects.get()
    assert key.expires_at
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)

    before = use(text)
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert (before, use(text)) == (200, 401)
    assert ">expired</span>" in admin.get(page_of(project)).content.decode()


def test_a_key_lasts_where_no_term_is_given(admin: Client, project: Project) -> None:
    admin.post(page_of(project), {"name": "agent", "scopes": ["read"]})

    assert ApiKey.objects.get().expires_at is None


@pytest.mark.parametrize("days", ["x", "-1", "31", "1e9"])
def test_odd_terms_are_refused(admin: Client, project: Project, days: str) -> None:
    answer = admin.post(page_of(project), {"name": "agent", "scopes": ["read"], "days": days})

    assert answer.status_code == 422
    assert not ApiKey.objects.exists()


def test_a_successor_works_beside_the_old_key_for_a_while(admin: Client, project: Project) -> None:
    key, old = a_key(project, KeyScope.READ)

    new = shown_key(rotate(admin, project, key, "24").encode())
    both = (use(old), use(new))
    key.refresh_from_db()
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())

    assert both == (200, 200)
    assert (use(old), use(new)) == (401, 200)
    assert key.successor
    assert (key.successor.name, key.successor.scopes) == (key.name, key.scopes)
    assert key.expires_at
    assert abs(key.expires_at - timezone.now() - timedelta(hours=24)) < timedelta(minutes=1)
    detail = AccessEntry.objects.get(action=AccessAction.KEY).detail
    before, after = detail.pop("before"), detail.pop("after")
    assert detail == {
        "rotated": key.prefix, "made": key.successor.prefix, "overlap_hours": 24,
    }  # fmt: skip
    assert before["expires"] == "never"
    assert {**after, "expires": "never"} == before
    assert after["expires"] > timezone.now().isoformat()


def test_without_an_overlap_the_old_key_ends_at_once(admin: Client, project: Project) -> None:
    key, old = a_key(project, KeyScope.READ)

    rotate(admin, project, key, "0")

    assert use(old) == 401


def test_rotation_makes_no_key_last_longer(admin: Client, project: Project) -> None:
    key, _ = a_key(project, KeyScope.READ)
    soon = timezone.now() + timedelta(hours=1)
    ApiKey.objects.update(expires_at=soon, created_at=soon - timedelta(days=30))

    rotate(admin, project, key, "168")

    key.refresh_from_db()
    assert key.expires_at == soon
    assert key.successor
    assert key.successor.expires_at
    left = key.successor.expires_at - timezone.now()
    assert abs(left - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.parametrize("over", ["revoked", "expired", "rotated"])
def test_a_key_that_is_over_has_no_successor(admin: Client, project: Project, over: str) -> None:
    key, _ = a_key(project, KeyScope.READ)
    if over == "rotated":
        rotate(admin, project, key, "24")
    else:
        field = "revoked_at" if over == "revoked" else "expires_at"
        ApiKey.objects.update(**{field: timezone.now()})
    count = ApiKey.objects.count()

    page = rotate(admin, project, key, "24")

    assert "has ended or has a successor" in page
    assert ApiKey.objects.count() == count


def test_a_rotation_without_a_choice_makes_nothing(admin: Client, project: Project) -> None:
    key, _ = a_key(project, KeyScope.READ)

    for hours in ("", "2", "x"):
        assert "Say how long" in rotate(admin, project, key, hours)
    assert ApiKey.objects.count() == 1
