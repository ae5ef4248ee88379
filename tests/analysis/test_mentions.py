"""Who is mentioned sees it, and says that they have read it."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import Annotation, Incident, Mention
from tests.factories import a_member, a_project, a_user
from tests.page_runs import the_vpn_run
from transcripts.choices import Role
from transcripts.models import Change, Run, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return the_vpn_run(a_project("helpdesk"))


@pytest.fixture
def anna(run: Run) -> User:
    return a_member(run.project, Role.LEAD, user=a_user("anna@desk.example", name="Anna B"))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def mention(run: Run, about: str = "run", *, text: str = "@anna, look.") -> Mention:
    """Somebody else writes it."""
    engineer = signed_in(a_member(run.project, Role.ENGINEER, restricted=True))
    incident = Incident.objects.get(project=run.project, number=1)
    address = (
        reverse("analysis:run_annotate", args=["helpdesk", run.pk])
        if about == "run"
        else reverse("analysis:incident_annotate", args=["helpdesk", incident.number])
    )
    engineer.post(address, {"kind": "note", "text": text})
    return Mention.objects.latest("pk")


def badge(user: User) -> str:
    """What the navigation says of mentions; empty where it says nothing."""
    page = signed_in(user).get(reverse("analysis:run_list", args=["helpdesk"])).content.decode()
    nav = page[page.index("<nav") : page.index("</nav>")]
    found = re.search(r'Mentions <span class="count" title="(\d+) not read">', nav)
    return found[1] if found else ""


def mentions_page(client: Client) -> str:
    return client.get(reverse("analysis:mention_list", args=["helpdesk"])).content.decode()


def read(client: Client, *mentions: Mention) -> str:
    address = reverse("analysis:mentions_read", args=["helpdesk"])
    return client.post(
        address, {"mention": [each.pk for each in mentions]}, follow=True
    ).content.decode()


def test_the_navigation_counts_what_was_not_read(run: Run, anna: User) -> None:
    other = a_member(run.project, Role.LEAD)
    nobody = badge(anna)
    mention(run), mention(run, "incident")

    assert (nobody, badge(anna), badge(other)) == ("", "2", "")


def test_one_is_read_and_then_all(run: Run, anna: User) -> None:
    first, second, third = mention(run), mention(run, "incident"), mention(run)
    client = signed_in(anna)

    page = read(client, second)
    one = badge(anna)
    rest = read(client)

    assert "Marked as read." in page
    assert one == "2"
    assert "2 mentions are marked as read." in rest
    assert badge(anna) == ""
    assert "You have read them all." in read(client)
    assert all(each.read_at for each in Mention.objects.filter(pk__in=(first.pk, third.pk)))


def test_it_is_taken_back(run: Run, anna: User) -> None:
    mention(run), mention(run)
    client = signed_in(anna)
    read(client)
    change = Change.objects.latest("pk")

    answer = client.post(
        reverse("transcripts:change_back", args=["helpdesk", change.pk]), follow=True
    )

    assert "You have not read 2 of them, as before." in answer.content.decode()
    assert badge(anna) == "2"


def test_what_was_not_read_comes_first(run: Run, anna: User) -> None:
    new, old = mention(run, text="@anna first words"), mention(run, text="@anna second words")
    Mention.objects.filter(pk=old.pk).update(read_at=timezone.now())

    page = mentions_page(signed_in(anna))

    assert page.index("first words") < page.index("second words")
    assert page.count('<span class="label">new</span>') == 1
    assert f'value="{new.pk}"' in page
    assert f'value="{old.pk}"' not in page


def test_it_leads_to_where_it_was_said(run: Run, anna: User) -> None:
    mention(run, "incident")

    page = mentions_page(signed_in(anna))

    assert f"{reverse('analysis:incident_detail', args=['helpdesk', 1])}#said-" in page


def test_editing_keeps_what_was_read(run: Run, anna: User) -> None:
    made = mention(run)
    read(signed_in(anna), made)
    author = made.annotation.author
    assert author is not None
    address = reverse("analysis:annotation_change", args=["helpdesk", made.annotation.pk])

    signed_in(author).post(address, {"text": "@anna, look again."})

    assert badge(anna) == ""


@pytest.mark.parametrize("why", ["restricted", "removed", "no transcript", "observer"])
def test_what_one_may_not_read_is_not_counted(run: Run, anna: User, why: str) -> None:
    made = mention(run)
    if why == "restricted":
        Run.objects.update(restricted=True)
    elif why == "removed":
        Annotation.objects.update(removed_at=timezone.now())
    elif why == "no transcript":
        Run.objects.update(text_removed_at=timezone.now(), text_removed_by="an erasure")
    else:
        anna.memberships.update(role=Role.OBSERVER)

    page = signed_in(anna).get(reverse("analysis:mention_list", args=["helpdesk"]))

    assert badge(anna) == ""
    assert page.status_code == (403 if why == "observer" else 200)
    assert "look." not in page.content.decode()
    assert made.read_at is None


def test_nobody_reads_for_others(run: Run, anna: User) -> None:
    made = mention(run)
    other = a_member(run.project, Role.ADMIN)

    read(signed_in(other), made)

    assert badge(anna) == "1"
