from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import a_member, a_project
from transcripts.choices import Role
from transcripts.stop_reasons import stop_labels

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def observer(client: Client) -> Client:
    client.force_login(a_member(a_project("helpdesk"), Role.OBSERVER))
    return client


def labels_of(client: Client, **query: str) -> tuple[str, int]:
    answer = client.get(reverse("analysis:stop_reasons", args=["helpdesk"]), query, headers=HTMX)
    assert answer.status_code == 200
    text = answer.content.decode()
    return text, len(re.findall(r"<tr>", text)) - 1


def test_shows_the_whole_table(observer: Client) -> None:
    page = observer.get(reverse("analysis:stop_reasons", args=["helpdesk"])).content.decode()

    assert len(re.findall(r"<tr>", page)) - 1 == len(stop_labels())
    assert "<h1>Stop reasons</h1>" in page


def test_narrows_by_text_service_and_meaning(observer: Client) -> None:
    text, rows = labels_of(observer, q="max_tokens", provider="anthropic", plain="cut_off")

    wanted = [
        row
        for row in stop_labels()
        if row.provider == "anthropic"
        and row.plain.value == "cut_off"
        and "max_tokens" in f"{row.label} {row.note} {row.provider} {row.field}".lower()
    ]
    assert rows == len(wanted) >= 1
    assert "<html" not in text
    assert "is read as <b>cut off</b>" in text


def test_says_how_a_label_that_is_not_in_the_table_is_read(observer: Client) -> None:
    text, _ = labels_of(observer, q="STOPSTOP", provider="google.generate_content")
    unknown, rows = labels_of(observer, q="<b>no such label</b>")

    assert "is read as <b>finished</b>" in text
    assert rows == -1
    assert "is read as <b>unknown</b>" in unknown
    assert "<b>no such label</b>" not in unknown
