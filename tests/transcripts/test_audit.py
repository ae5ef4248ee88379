"""The audit log: each line says who, what, when and from where, and stays."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, InternalError, ProgrammingError, connection, transaction
from django.test import RequestFactory

from tests.factories import a_key, a_member, a_project, a_stored_run
from transcripts.audit import access_record, client_address
from transcripts.choices import AccessAction
from transcripts.models import AccessEntry

pytestmark = pytest.mark.django_db


def test_a_line_says_who_what_and_from_where(rf: RequestFactory) -> None:
    project = a_project()
    run = a_stored_run(project, run_id="vpn-1")
    user = a_member(project)
    request = rf.get("/", REMOTE_ADDR="192.0.2.7")

    access_record(project=project, action=AccessAction.READ, run=run, user=user, request=request)

    line = AccessEntry.objects.get()
    assert (line.who, line.action, line.what) == (user.email, "read", "vpn-1")
    assert (line.run_pk, line.address, line.project_id) == (run.pk, "192.0.2.7", project.pk)


def test_a_key_is_named_and_not_shown() -> None:
    project = a_project()
    key, text = a_key(project)

    access_record(project=project, action=AccessAction.EXPORT, api_key=key)

    line = AccessEntry.objects.get()
    assert key.name in line.who
    assert text not in line.who


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("UPDATE transcripts_accessentry SET who = 'nobody'", id="update"),
        pytest.param("DELETE FROM transcripts_accessentry", id="delete"),
        pytest.param("TRUNCATE transcripts_accessentry", id="truncate"),
    ],
)
def test_lines_stay_as_they_are(change: str) -> None:
    access_record(project=a_project(), action=AccessAction.READ)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE transcripts_accessentry ENABLE TRIGGER ALL")

    with (
        pytest.raises((DatabaseError, ProgrammingError, InternalError), match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change)

    assert AccessEntry.objects.exclude(who="nobody").count() == 1


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        pytest.param(0, "203.0.113.9", "192.0.2.7", id="nobody's header is believed"),
        pytest.param(1, "203.0.113.9", "203.0.113.9", id="one proxy"),
        pytest.param(1, "10.9.9.9, 203.0.113.9", "203.0.113.9", id="what the client made up"),
        pytest.param(2, "203.0.113.9, 10.0.0.1", "203.0.113.9", id="two proxies"),
        pytest.param(1, "nonsense", None, id="no address"),
        pytest.param(1, "", "192.0.2.7", id="past the proxy"),
    ],
)
def test_the_address_is_the_clients(
    rf: RequestFactory, settings: Any, proxies: int, forwarded: str, address: str | None
) -> None:
    settings.AGENTDESK_PROXIES = proxies
    request = rf.get("/", REMOTE_ADDR="192.0.2.7", HTTP_X_FORWARDED_FOR=forwarded)

    assert client_address(request) == address
