from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import a_round, a_run, call, reading_run
from tests.factories import a_member, a_project
from tests.page_runs import a_hostile_run, a_shown_run, the_vpn_run
from transcripts.choices import AccessAction, Role
from transcripts.models import AccessEntry, Project, Run
from transcripts.record import InputChange, Message, Opaque, Placed, RunRecord
from transcripts.selectors import inputs, pages
from transcripts.selectors.record import run_record
from transcripts.views import rounds

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
TEXTS = {
    "goal": ("system", "Be helpful."),
    "ticket": ("user", "My printer burns."),
    "more": ("user", "It still burns."),
    "note": ("user", "Never mind."),
}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def lead(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.LEAD))
    return client


def text_of(client: Client, name: str, run: Run, number: int, **query: object) -> str:
    address = reverse(f"transcripts:{name}", args=[run.project.slug, run.pk, number])
    answer = client.get(address, query)
    assert answer.status_code == 200
    return answer.content.decode()


def choices_in(text: str) -> list[tuple[str, int]]:
    found = re.findall(r'>([^<>]+) <span class="count">([\d,]+)</span> <kbd>', text)
    return [(words, int(count.replace(",", ""))) for words, count in found]


def messages_in(text: str) -> list[str]:
    return re.findall(r"<pre>([^<]*)</pre>", text[text.rindex("<ol") :])


def test_what_the_model_saw_in_order(lead: Client, project: Project) -> None:
    record = reading_run(
        ["goal", "ticket"], ["goal", "ticket", "more"], ["goal", "more", "note"], texts=TEXTS
    )
    run = a_shown_run(record, project)

    text = text_of(lead, "round_input", run, 3)

    assert choices_in(text) == [
        ("All", 3),
        ("New since round 2", 1),
        ("Gone since round 2", 1),
        ("New since round 1", 2),
        ("Gone since round 1", 1),
    ]
    listed = text[text.rindex("<ol") :]
    assert re.findall(r"<pre>([^<]*)</pre>", listed) == [
        "Be helpful.",
        "It still burns.",
        "Never mind.",
    ]
    assert listed.count("new in this round") == 1
    assert "The model no longer sees the ticket." in text
    assert "no longer sees" not in text_of(lead, "round_input", run, 2)
    assert "<b>Goal and rules</b>" in listed
    assert "<b>Person</b>" in listed
    gone = text_of(lead, "round_input", run, 3, only="gone")
    assert messages_in(gone) == ["My printer burns."]
    assert "new in this round" not in gone
    assert messages_in(text_of(lead, "round_input", run, 3, only="new")) == ["Never mind."]
    later = text_of(lead, "round_input", run, 3, only="later")
    assert messages_in(later) == ["It still burns.", "Never mind."]
    assert later[later.rindex("<ol") :].count("new in this round") == 1
    assert len(choices_in(text_of(lead, "round_input", run, 2))) == 3
    assert messages_in(text_of(lead, "round_input", run, 2, only="dropped")) == []
    assert "Nothing is gone" in text_of(lead, "round_input", run, 2, only="dropped")


def test_a_round_that_never_came_is_not_compared_with(lead: Client, project: Project) -> None:
    goal, ticket, more = (Message(key, *TEXTS[key]) for key in ("goal", "ticket", "more"))
    whole = InputChange((Placed("goal", 0), Placed("more", 1)), whole=True)
    record = a_run(
        a_round(call(), input=InputChange((Placed("goal", 0), Placed("ticket", 1)))),
        replace(a_round(call(), input=whole), number=5),
        replace(a_round(reply="Done.", input=InputChange()), number=6),
        messages=(goal, ticket, more),
    )
    run = a_shown_run(record, project)

    at_5 = text_of(lead, "round_input", run, 5)
    at_6 = text_of(lead, "round_input", run, 6)

    assert choices_in(at_5)[1:3] == [("New since round 1", 1), ("Gone since round 1", 1)]
    assert choices_in(at_6)[1:] == [
        ("New since round 5", 0),
        ("Gone since round 5", 0),
        ("New since round 1", 1),
        ("Gone since round 1", 1),
    ]


def test_a_message_that_is_there_once_more_is_new(lead: Client, project: Project) -> None:
    record = reading_run(["goal", "ticket"], ["goal", "ticket"], texts=TEXTS)
    again = replace(record.rounds[1], input=InputChange((Placed("ticket", 2),)))
    run = a_shown_run(replace(record, rounds=(record.rounds[0], again)), project)

    text = text_of(lead, "round_input", run, 2)

    listed = text[text.rindex("<ol") :].split('class="read')
    assert ["new in this round" in each for each in listed[1:]] == [False, False, True]
    assert choices_in(text)[1] == ("New since round 1", 1)


@pytest.mark.parametrize("number", [0, 3, 10**12])
def test_a_round_that_never_came_is_not_there(lead: Client, project: Project, number: int) -> None:
    run = a_shown_run(a_run([call()], "Done."), project)
    address = reverse("transcripts:round_input", args=[project.slug, run.pk, number])

    assert lead.get(address).status_code == 404


def test_only_what_was_dropped(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)
    address = reverse("transcripts:round_input", args=[project.slug, run.pk, 40])

    swap = lead.get(address, {"only": "dropped"}, headers=HTMX)

    assert "<html" not in swap.content.decode()
    assert "HX-Request" in swap.headers["Vary"]
    assert "VPN drops every ten minutes" in swap.content.decode()
    assert "friendly paragraph" not in swap.content.decode()


@pytest.mark.parametrize("number", [1, 2, 3, 39, 40, 41, 52])
def test_the_input_is_the_one_of_the_record(project: Project, number: int) -> None:
    run = the_vpn_run(project)
    record = run_record(run=run).record
    before: list[str] = []
    for round_, keys in record.inputs():
        if round_.number == number:
            expected = list(keys or [])
            break
        before = list(keys or [])

    found = inputs.round_input(run=run, number=number)

    shown = _texts(run, found.idents)
    assert shown == [_text(record, key) for key in expected]
    assert len(found.dropped) == len(set(before) - set(expected))
    assert len(found.added) == len(set(expected) - set(before))


def test_says_when_the_record_does_not_say(lead: Client, project: Project) -> None:
    run = a_shown_run(a_run([call()], "Done."), project)

    assert "The record does not say" in text_of(lead, "round_input", run, 2)


def test_a_long_input_comes_in_pages(
    lead: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "MESSAGES_PER_PAGE", 30)
    run = the_vpn_run(project)

    text = text_of(lead, "round_input", run, 40)

    assert "Messages 31 to 75 are not loaded" in text
    assert text_of(lead, "round_input", run, 40, start=60).count('<li class="read') == 15


def test_a_whole_text(lead: Client, project: Project) -> None:
    run = a_shown_run(a_run([call("read", {}, "line\n" * 3000 + "the end")], "Done."), project)

    text = text_of(lead, "round_text", run, 1, part="result", index=0)

    assert "15,007 characters." in text
    assert "the end</pre>" in text


def test_a_text_in_slices_says_what_is_not_there(
    lead: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "TEXT_SLICE", 1000)
    run = a_shown_run(a_run([call("read", {}, "x" * 2500 + "end")], "Done."), project)

    first = text_of(lead, "round_text", run, 1, part="result")
    last = text_of(lead, "round_text", run, 1, part="result", start=2000)

    assert "Characters 1 to 1,000 of 2,503." in first
    assert "Characters 1,001 to 2,503 are not loaded" in first
    assert "Characters 2,001 to 2,503 of 2,503." in last
    assert "end</pre>" in last


@pytest.mark.parametrize(
    ("query", "status"),
    [({"part": "digest"}, 400), ({}, 400), ({"part": "result", "index": "7"}, 404),
     ({"part": "message", "ident": "\x00"}, 404), ({"part": "reply", "start": "-1"}, 200)],
)  # fmt: skip
def test_other_texts_are_refused(
    lead: Client, project: Project, query: dict[str, str], status: int
) -> None:
    run = the_vpn_run(project)
    address = reverse("transcripts:round_text", args=[project.slug, run.pk, 3])

    assert lead.get(address, query).status_code == status


def test_all_calls_of_a_crowded_round(lead: Client, project: Project) -> None:
    calls = [call(f"tool_{number}", {"n": number}, f"answer {number}") for number in range(30)]
    run = a_shown_run(a_run(a_round(*calls), "Done."), project)

    page = lead.get(reverse("analysis:run_detail", args=[project.slug, run.pk])).content.decode()
    text = text_of(lead, "round_calls", run, 1)

    assert "18 more calls in this round" in page
    assert "tool_29" not in page
    assert "answer 29" in text


def test_calls_beyond_a_page_are_a_link_away(
    lead: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "CALLS_PER_PAGE", 20)
    calls = [call(f"tool_{number}", {"n": number}, f"answer {number}") for number in range(30)]
    run = a_shown_run(a_run(a_round(*calls), "Done."), project)

    first = text_of(lead, "round_calls", run, 1)
    second = text_of(lead, "round_calls", run, 1, start=20)

    assert "Calls 1 to 20 of 30" in first
    assert 'href="?start=20"' in first
    assert "answer 29" in second
    assert "answer 19<" not in second


def test_a_picture_is_named_and_not_sent(lead: Client, project: Project) -> None:
    body = json.dumps({"url": "data:image/png;base64," + "iVBORw0KGgo" * 20_000})
    message = Message("shot", "user", "See this.", opaque=(Opaque("image_url", body),))
    record = a_run(
        a_round(call(), input=InputChange((Placed("shot", 0),))), "Done.", messages=(message,)
    )
    run = a_shown_run(record, project)

    page = lead.get(reverse("analysis:run_detail", args=[project.slug, run.pk])).content.decode()

    assert "image_url, kept as it came" in page
    assert "iVBOR" not in page


@pytest.mark.parametrize("name", ["round_input", "round_calls"])
def test_markup_is_escaped(lead: Client, project: Project, name: str) -> None:
    text = text_of(lead, name, a_hostile_run(project), 1)

    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "\u202e" not in text


def test_each_reading_leaves_a_line(lead: Client, project: Project) -> None:
    run = the_vpn_run(project)

    text_of(lead, "round_input", run, 3)
    text_of(lead, "round_text", run, 3, part="reply")

    lines = AccessEntry.objects.filter(run_pk=run.pk, action=AccessAction.READ).order_by("pk")
    assert [line.detail for line in lines] == [{"saw": 3}, {"round": 3, "part": "reply"}]


def _texts(run: Run, idents: list[str]) -> list[str]:
    return [row["content_head"] for row in inputs.input_messages(run=run, idents=idents)]


def _text(record: RunRecord, key: str) -> str:
    message = record.message_by_key[key]
    if message.reply_of is not None:
        return record.round_by_number[message.reply_of].reply
    if message.result_of is not None:
        number, index = message.result_of
        return record.round_by_number[number].calls[index].result or ""
    return message.content
