"""Files from a browser: what is shown before anything is stored, who sees it, and what becomes of
them.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agentdesk.pipeline import delivery_process
from tests.factories import a_member, a_project, native_rounds
from transcripts import previews
from transcripts.choices import AccessAction, DeliveryState, Role
from transcripts.models import AccessEntry, Delivery, Project, Run, User
from transcripts.services.held import HELD_FOR, held_expire

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "ghp_Zx9Kq2Wm4Lr7Tn1Vb8Yc3Df6Gh5Jk0PqRsTu"


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def engineer(client: Client, project: Project) -> User:
    person = a_member(project, Role.ENGINEER)
    client.force_login(person)
    return person


def a_line(run_id: str, words: str = "My VPN drops") -> bytes:
    messages = [{"key": "m", "role": "user", "content": words}]
    rounds = native_rounds()
    rounds[0] = {**rounds[0], "input": {"added": ["m"]}}
    run = {"run_id": run_id, "ticket_id": f"T-{run_id}", "messages": messages, "rounds": rounds}
    return json.dumps(run).encode()


def send(client: Client, *files: tuple[str, bytes], **options: Any) -> Any:
    uploads = [SimpleUploadedFile(name, content) for name, content in files]
    address = reverse("transcripts:upload", args=["helpdesk"])
    return client.post(address, {"files": uploads}, follow=True, **options)


def shown(answer: Any) -> str:
    """The page's words alone."""
    text = re.sub(r"<[^>]+>", " ", answer.content.decode().split("<main")[1])
    return " ".join(text.replace("&#x27;", "'").split())


def chosen(answer: Any, action: str) -> list[str]:
    """The files that a form of the page would send."""
    forms = re.findall(r"<form.*?</form>", answer.content.decode(), re.DOTALL)
    (form,) = [form for form in forms if reverse(action, args=["helpdesk"]) in form][-1:]
    return re.findall(r'name="delivery" value="([^"]+)"', form)


def decide(client: Client, action: str, *deliveries: str) -> Any:
    address = reverse(action, args=["helpdesk"])
    return client.post(address, {"delivery": deliveries}, follow=True)


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    return file.getvalue()


def test_the_limit_is_said_beforehand(client: Client, engineer: User) -> None:
    page = client.get(reverse("transcripts:upload", args=["helpdesk"]))

    assert "Up to 100 files at once, 32.0 MB together" in shown(page)
    assert 'type="file"' in page.content.decode()
    assert 'enctype="multipart/form-data"' in page.content.decode()


def test_shows_what_is_in_each_file_before_anything_is_stored(
    client: Client, engineer: User
) -> None:
    lines = b"\n".join(a_line(f"r{n}", f"Ticket number {n}") for n in range(7))
    broken = a_line("good") + b'\n{"broken\n{"run_id":"odd","rounds":[{"round":0}]}'

    page = send(
        client, ("many.jsonl.gz", gzip.compress(lines)), ("mixed.jsonl", broken), ("x.txt", b"hm"),
        ("some.zip", zipped(a=a_line("z1"), b=a_line("z2"))),
    )  # fmt: skip

    words = shown(page)
    assert "many.jsonl.gz" in words
    assert "Agentdesk's native format : 7 runs, 21 rounds." in words
    assert "T-r0 Ticket number 0 run r0, 3 rounds" in words
    assert "and 2 more runs" in words
    assert "Line 2: column 2: " in words
    assert "Line 3, run odd, the 1st round, “round” : " in words
    assert "No run could be read" in words
    assert "Line 1: column 1: this is not JSON" in words
    assert "Store these 10 runs" in words
    assert not Run.objects.exists()
    assert set(Delivery.objects.values_list("state", flat=True)) == {DeliveryState.HELD}


def test_a_secret_is_shown_and_kept_masked(client: Client, engineer: User) -> None:
    page = send(client, (f"{SECRET}.json", a_line(f"r {SECRET}", f"My token {SECRET} fails")))

    assert SECRET not in page.content.decode()
    assert "My token" in shown(page)
    delivery = Delivery.objects.get()
    kept = [delivery.outcome, delivery.error, delivery.error_at, bytes(delivery.body)]
    assert SECRET not in repr(kept)


def test_a_secret_that_is_known_from_elsewhere_in_the_run_is_masked_in_its_title(
    client: Client, engineer: User
) -> None:
    """The word says nothing by itself; the log in round 1 says that it is a password."""
    run = json.loads(a_line("r", "it says Quarter7731End is wrong"))
    run["rounds"][0]["calls"][0]["args"] = {"password": "Quarter7731End"}

    page = send(client, ("a.json", json.dumps(run).encode()))

    assert "it says" in shown(page)
    assert "Quarter7731End" not in page.content.decode()


def test_a_large_run_has_no_title_before_it_is_stored(
    client: Client, engineer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "MOST_CHARACTERS", 10)

    page = send(client, ("a.json", a_line("r", "A title")))

    assert "no title run r, 3 rounds" in shown(page)


def test_storing_leads_to_the_runs(client: Client, engineer: User) -> None:
    page = send(client, ("a.json", a_line("a")), ("b.jsonl", a_line("b") + b"\n" + a_line("c")))

    waits = decide(client, "transcripts:upload_store", *chosen(page, "transcripts:upload_store"))

    assert "Waiting for a worker: 2 of 2" in shown(waits)
    assert 'hx-trigger="every 2s"' in waits.content.decode()
    for delivery in Delivery.objects.all():
        assert delivery.outcome == {}
        delivery_process(delivery.pk)
    address, query = waits.request["PATH_INFO"], waits.request["QUERY_STRING"]
    done = client.get(f"{address}?{query}")
    assert "3 runs stored" in shown(done)
    assert "hx-trigger" not in done.content.decode().split("<main")[1]
    for run in Run.objects.all():
        assert reverse("analysis:run_detail", args=["helpdesk", run.pk]) in done.content.decode()
    assert AccessEntry.objects.filter(action=AccessAction.QUARANTINE).count() == 2


def test_the_page_stops_asking_and_says_so(client: Client, engineer: User) -> None:
    page = send(client, ("a.json", a_line("a")))
    decide(client, "transcripts:upload_store", *chosen(page, "transcripts:upload_store"))
    address = reverse("transcripts:receipts", args=["helpdesk"])
    asked = {"r": str(Delivery.objects.get().pk), "asked": "150"}

    answer = client.get(address, asked, headers={"HX-Request": "true"})

    assert "This page has stopped asking." in answer.content.decode()
    assert "hx-trigger" not in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_discarding_leaves_no_content(client: Client, engineer: User) -> None:
    page = send(client, ("a.json", a_line("a")), ("b.json", a_line("b")))

    gone = decide(client, "transcripts:upload_discard", *chosen(page, "transcripts:upload_discard"))

    assert "Waiting for your word" not in shown(gone)
    for delivery in Delivery.objects.all():
        state = (delivery.state, bytes(delivery.body), delivery.outcome)
        assert state == (DeliveryState.DISCARDED, b"", {})


def test_only_the_sender_sees_and_decides(client: Client, engineer: User, project: Project) -> None:
    page = send(client, ("a.json", a_line("a", "A private title")))
    pk = chosen(page, "transcripts:upload_store")[0]
    other = Client()
    other.force_login(a_member(project, Role.ADMIN))

    assert "A private title" not in shown(
        other.get(reverse("transcripts:upload", args=["helpdesk"]))
    )
    decide(other, "transcripts:upload_store", pk)
    decide(other, "transcripts:upload_discard", pk)

    assert Delivery.objects.get().state == DeliveryState.HELD
    seen = other.get(reverse("transcripts:delivery_detail", args=["helpdesk", pk]))
    assert "waiting to be confirmed" in shown(seen)
    assert "A private title" not in seen.content.decode()


@pytest.mark.parametrize("role", [Role.OBSERVER, Role.LEAD, Role.ENGINEER])
def test_others_learn_nothing_of_a_receipt(
    client: Client, engineer: User, project: Project, role: Role
) -> None:
    page = send(client, ("a.json", a_line("a")))
    pk = chosen(page, "transcripts:upload_store")[0]
    decide(client, "transcripts:upload_store", pk)
    other = Client()
    other.force_login(a_member(project, role))

    address = reverse("transcripts:delivery_detail", args=["helpdesk", pk])
    unknown = reverse("transcripts:delivery_detail", args=["helpdesk", uuid4()])
    receipts = reverse("transcripts:receipts", args=["helpdesk"])

    assert client.get(address).status_code == 200
    assert (other.get(address).status_code, other.get(unknown).status_code) == (403, 403)
    assert other.get(receipts, {"r": pk}).status_code == 403


def test_what_is_confirmed_twice_is_stored_once(client: Client, engineer: User) -> None:
    page = send(client, ("a.json", a_line("a")))
    pk = chosen(page, "transcripts:upload_store")[0]

    decide(client, "transcripts:upload_store", pk)
    again = decide(client, "transcripts:upload_store", pk)

    assert again.request["PATH_INFO"] == reverse("transcripts:upload", args=["helpdesk"])
    assert Delivery.objects.get().state == DeliveryState.ACCEPTED


def test_what_was_forgotten_is_discarded(client: Client, engineer: User) -> None:
    send(client, ("old.json", a_line("a")), ("new.json", a_line("b")))
    old, _ = Delivery.objects.order_by("received_at")
    long_ago = timezone.now() - HELD_FOR - timedelta(minutes=1)
    Delivery.objects.filter(pk=old.pk).update(received_at=long_ago)

    assert (held_expire(), held_expire()) == (1, 0)

    old.refresh_from_db()
    assert (old.state, bytes(old.body), old.outcome) == (DeliveryState.DISCARDED, b"", {})
    assert Delivery.objects.filter(state=DeliveryState.HELD).count() == 1


def test_no_worker_takes_what_is_held(client: Client, engineer: User) -> None:
    send(client, ("a.json", a_line("a")))

    delivery_process(Delivery.objects.get().pk)

    assert Delivery.objects.get().state == DeliveryState.HELD
    assert not Run.objects.exists()


def test_of_a_large_file_the_first_part_is_looked_at_and_that_is_said(
    client: Client, engineer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "MOST_RUNS", 3)

    page = send(client, ("a.jsonl", b"\n".join(a_line(f"r{n}") for n in range(9))))

    assert "the 3 runs at its beginning were looked at here" in shown(page)
    assert "Store all runs of 1 file, 3 or more" in shown(page)


@pytest.mark.parametrize(
    ("files", "status", "says"),
    [
        ([], 422, "No file was chosen"),
        ([("empty.json", b"")], 422, "all of them are empty"),
        ([("large.json", b"x" * 5000)], 413, "Nothing was kept of them"),
    ],
    ids=["none", "empty", "large"],
)
def test_refuses_what_it_cannot_take(
    client: Client, engineer: User, settings: Any, files: Any, status: int, says: str
) -> None:
    settings.AGENTDESK_MAX_BODY_BYTES = 4000

    answer = send(client, *files)

    assert answer.status_code == status
    assert says in shown(answer)
    assert not Delivery.objects.exists()


def test_a_bomb_is_refused_in_the_preview(client: Client, engineer: User) -> None:
    bomb = gzip.compress(a_line("a") + b"\n" + b" " * 150_000_000)

    page = send(client, ("bomb.gz", bomb))

    assert "times its size" in shown(page)


def test_names_and_texts_are_escaped(client: Client, engineer: User) -> None:
    page = send(client, ("<script>x</script>.json", a_line("<b>r", "<img src=x onerror=y>")))

    text = page.content.decode()
    assert "<script>x" not in text
    assert "<img src=x" not in text
    assert "<b>r" not in text
