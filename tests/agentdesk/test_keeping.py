"""Retention, legal hold and erasure: what goes is gone from every table, what stays still works."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test import Client
from django.utils import timezone

from agentdesk import keeping, tasks
from agentdesk.pipeline import delivery_process
from analysis.alerts.channels import channel_add
from analysis.models import (
    AlertMessage,
    Annotation,
    AnnotationVersion,
    ChannelKind,
    Fingerprint,
    Incident,
    IncidentEvent,
    IncidentRun,
    RunTriage,
    TestCase,
    Verdict,
)
from analysis.services.keeping import HELD
from analysis.services.verdicts import run_analyse
from tests.factories import a_key, a_member, a_project, a_record, a_user, native_rounds
from transcripts.choices import AccessAction, DeliveryKind, DeliveryState, Removal, Role
from transcripts.maskers import typed_masker
from transcripts.models import (
    AccessEntry,
    Delivery,
    ErasedRun,
    Message,
    OpenTrace,
    Project,
    Round,
    Run,
    ToolCall,
)
from transcripts.selectors.retention import Kept, Rule, retention_preview, runs_due
from transcripts.services import delivery_accept, removal, run_store
from transcripts.services.removal import HeldError, run_erase, transcript_mark
from transcripts.services.retention import (
    RetentionError,
    project_mark,
    rules_set,
    run_hold,
    run_release,
)

pytestmark = pytest.mark.django_db

# A word of each place of a transcript, which then must be in no table.
PLACES = (
    "title",
    "ending_reason",
    "tool_description",
    "ticket_text",
    "reply",
    "reasoning",
    "args",
    "result",
    "error",
    "left_over",
)


def word(place: str, run_id: str = "run-1") -> str:
    return f"canary{place.replace('_', '')}of{run_id.replace('-', '')}"


def told(run_id: str) -> dict[str, Any]:
    """A run of the native format with a word in every place."""

    def of(place: str) -> str:
        return word(place, run_id)

    failing = {
        "name": "get_employee",
        "args": {"q": of("args")},
        "result": f"Error: {of('result')} was not found",
        "is_error": True,
    }
    rounds = [
        {
            "round": number,
            "stop": "wants_tool",
            "reply": of("reply"),
            "reasoning": of("reasoning"),
            "calls": [{"id": f"{of('left_over')}-{number}", **failing}],
        }
        for number in range(1, 6)
    ]
    last = {"round": 6, "stop": "error", "error": of("error")}
    rounds[0]["input"] = {"added": ["ticket"]}
    return {
        "run_id": run_id,
        "ticket_id": f"TCK-{run_id}",
        "title": of("title"),
        "agent": "helpdesk",
        "ending": "error",
        "ending_reason": of("ending_reason"),
        "labels": {"team": "sales"},
        "tools": [{"name": "get_employee", "description": of("tool_description")}],
        "messages": [{"key": "ticket", "role": "user", "content": of("ticket_text")}],
        "rounds": [*rounds, last],
    }


def a_told_run(project: Project, run_id: str = "run-1", *, days_old: int = 0) -> Run:
    with transaction.atomic():
        run = run_store(project=project, fragment=a_record(**told(run_id)), live=False).run
        run_analyse(run=run)
    RunTriage.objects.create(run=run)
    when = timezone.now() - timedelta(days=days_old, minutes=1)
    Run.objects.filter(pk=run.pk).update(received_at=when, updated_at=when)
    return Run.objects.get(pk=run.pk)


def an_incident(*runs: Run, held: bool = False) -> Incident:
    """An incident in which those runs were seen."""
    now = timezone.now()
    project = runs[0].project
    incident = Incident.objects.create(
        project=project,
        number=Incident.objects.count() + 1,
        title=typed_masker(project).text("get_employee fails"),
        first_seen_at=now,
        last_seen_at=now,
        held=held,
        run_count=len(runs),
    )
    print_ = Fingerprint.objects.create(
        project=project, incident=incident, digest=b"%d" % incident.pk, grouping=1, detector="d"
    )
    for run in runs:
        IncidentRun.objects.create(incident=incident, fingerprint=print_, run=run, round=1)
    return incident


def a_note(run: Run) -> Annotation:
    """A person's note with an earlier version of it, and a call that was tried by hand."""
    masker = typed_masker(run.project)
    note = Annotation.objects.create(
        project=run.project, run=run, kind="note", text=masker.text("the CRM is down")
    )
    AnnotationVersion.objects.create(annotation=note, text=masker.text("is it the CRM?"))
    Annotation.objects.create(
        project=run.project, run=run, kind="tried", text=masker.text(word("result"))
    )
    return note


def a_case(run: Run) -> TestCase:
    """A test case with the run's recording."""
    masker = typed_masker(run.project)
    return TestCase.objects.create(
        project=run.project,
        number=1,
        key=masker.text("CASE-1"),
        schema="1",
        recording=masker.text(word("reply")),
        rounds=6,
        run=run,
    )


def tables_with(text: str) -> set[str]:
    """The tables of which a row, as a dump writes it, holds the text."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f'SELECT count(*) FROM "{table}" AS t WHERE strpos(t::text, %s) > 0', (text,)
            )
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def removed(run: Run) -> Run:
    """The run after its transcript was removed."""
    assert transcript_mark(pk=run.pk, by="the retention of 90 days", held=HELD)
    assert keeping.run_empty(run.pk)
    return Run.objects.get(pk=run.pk)


def erased(run: Run) -> None:
    assert run_erase(pk=run.pk, held=HELD)
    assert keeping.run_empty(run.pk)


def test_every_table_that_hangs_on_a_run_has_a_decision() -> None:
    hanging = {related.related_model for related in Run._meta.related_objects}
    decided = [table.model for table in keeping.HANGING]

    assert set(decided) == hanging
    assert len(decided) == len(hanging)
    for table in keeping.HANGING:
        said = [bool(table.rows), bool(table.emptied), bool(table.kept)]
        assert said.count(True) == 1, table.model


def test_every_word_of_a_removed_transcript_is_gone_from_every_table() -> None:
    project = a_project()
    run, other = a_told_run(project), a_told_run(project, "run-2")
    note = a_note(run)
    before = {place: tables_with(word(place)) for place in PLACES}

    removed(run)

    assert all(before.values()), before
    assert {"transcripts_message", "transcripts_round", "transcripts_toolcall"} <= set().union(
        *before.values()
    )
    assert "analysis_finding" in before["result"] | before["args"] | before["error"]
    assert {place: tables_with(word(place)) for place in PLACES} == {key: set() for key in PLACES}
    assert all(tables_with(word(place, "run-2")) for place in PLACES)
    assert Message.objects.filter(run=other).count() == 1
    assert Annotation.objects.get(pk=note.pk).text == "the CRM is down"


def test_figures_stops_and_verdict_stay_when_a_transcript_is_removed() -> None:
    run = a_told_run(a_project())
    kind = run.verdict.kind
    findings = list(run.findings.values_list("detector", "round", "severity"))

    after = removed(run)

    assert (after.round_count, after.call_count, after.ending) == (6, 5, "error")
    assert (after.run_id, after.ticket_id, after.agent) == ("run-1", "TCK-run-1", "helpdesk")
    assert after.updated_at == run.updated_at
    assert after.removal == Removal.NONE
    assert [round_.stop for round_ in after.rounds.order_by("number")] == [
        *["wants_tool"] * 5,
        "error",
    ]
    calls = after.calls.order_by().values_list("name", "is_error", "result", "joined")
    assert list(calls.distinct()) == [("get_employee", True, None, "removed")]
    assert after.verdict.kind == kind
    assert after.verdict.sentence
    assert findings
    assert list(after.findings.values_list("detector", "round", "severity")) == findings


def test_an_erased_run_leaves_no_row_anywhere() -> None:
    project = a_project()
    run, other = a_told_run(project), a_told_run(project, "run-2")
    incident = an_incident(run, other)
    a_case(run)
    a_note(run)
    OpenTrace.objects.create(project=project, digest=bytes(run.digest))
    pk = run.pk

    erased(run)

    assert not Run.objects.filter(pk=pk).exists()
    for table in keeping.HANGING:
        assert not table.model._default_manager.filter(run_id=pk).exists(), table.model
    assert list(TestCase.objects.values_list("recording", flat=True)) == [""]
    assert tables_with("the CRM") == set()
    assert {place: tables_with(word(place)) for place in PLACES} == {key: set() for key in PLACES}
    assert tables_with("TCK-run-1") == set()
    assert not OpenTrace.objects.exists()
    assert all(tables_with(word(place, "run-2")) for place in PLACES)
    assert Incident.objects.get(pk=incident.pk).run_count == 1


def test_what_was_made_a_test_stays_when_its_run_goes_with_its_days() -> None:
    run = a_told_run(a_project())
    a_case(run)

    assert removal.run_mark(pk=run.pk, by="the retention of 90 days", held=HELD)
    assert keeping.run_empty(run.pk)

    case = TestCase.objects.get()
    assert case.run is None
    assert word("reply") in case.recording


def test_an_incident_keeps_no_words_of_transcripts_that_are_all_gone() -> None:
    project = a_project()
    run, other = a_told_run(project), a_told_run(project, "run-2")
    incident = an_incident(run, other)
    error = typed_masker(project).text("no employee of that name")
    incident.fingerprints.update(error=error)
    title = typed_masker(project).text("get_employee failed: “no such name”.")
    Incident.objects.filter(pk=incident.pk).update(title=title)

    removed(run)
    assert incident.fingerprints.get().error == error
    removed(other)

    assert incident.fingerprints.get().error == ""
    assert Incident.objects.get(pk=incident.pk).title == "get_employee failed."


def test_an_incident_of_nothing_but_erased_runs_goes_with_them() -> None:
    run = a_told_run(a_project())
    an_incident(run)

    erased(run)

    assert not Incident.objects.exists()
    assert not Fingerprint.objects.exists()


def test_alerts_keep_no_words_of_what_is_gone() -> None:
    project = a_project()
    run, other = a_told_run(project), a_told_run(project, "run-2")
    incident = an_incident(run)
    event = IncidentEvent.objects.create(incident=incident, kind="opened")
    text = typed_masker(project).text
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="Ops", address="a@b.example", user=a_user()
    )
    subjects = {f"run:{run.pk}": run, f"event:{event.pk}": run, f"run:{other.pk}": other}
    for subject, of in subjects.items():
        AlertMessage.objects.create(
            project=project, channel=channel, kind="run_flagged", subject=subject,
            body={"words": text(f"{of.run_id}: look failed: “{word('reply')}”."), "run": of.run_id},
        )  # fmt: skip

    removed(other)
    told = AlertMessage.objects.get(subject=f"run:{other.pk}").body
    assert told == {"words": f"{other.run_id}: look failed.", "run": other.run_id}
    erased(run)

    assert list(AlertMessage.objects.values_list("subject", flat=True)) == [f"run:{other.pk}"]
    assert tables_with(word("reply")) == set()


def test_a_run_that_is_marked_is_gone_for_readers_at_once() -> None:
    project = a_project()
    run = a_told_run(project)
    client = Client()
    client.force_login(a_member(project, Role.ADMIN))

    run_erase(pk=run.pk, held=HELD)

    assert client.get(f"/p/{project.slug}/runs/{run.pk}/").status_code == 404
    assert "TCK-run-1" not in client.get(f"/p/{project.slug}/runs/?tab=all").text
    _, key = a_key(project)
    asked = Client(headers={"Authorization": f"Bearer {key}"})
    assert asked.get("/api/v1/runs/run-1").status_code == 404
    assert asked.get("/api/v1/runs").json()["runs"] == []
    assert Message.objects.filter(run=run).exists()


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "ROWS_AT_ONCE", 2)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("whole", [False, True], ids=["text", "run"])
def test_a_removal_that_was_killed_goes_on(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    run = a_told_run(a_project())
    mark = removal.run_mark if whole else transcript_mark
    assert mark(pk=run.pk, by="the retention of 1 days", held=HELD)
    clock = iter(range(5_000))
    for _ in range(60):
        # Time for a few steps, then the worker's time is over.
        monkeypatch.setattr(removal, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        if keeping.run_empty(run.pk, end=next(clock) + len(keeping.HANGING) + 4):
            break
        left = Run.objects.get(pk=run.pk)
        assert left.removal == (Removal.RUN if whole else Removal.TEXT)
        assert left.text_removed_at is not None
    monkeypatch.undo()

    assert next(clock) > 20
    assert {place: tables_with(word(place)) for place in PLACES} == {key: set() for key in PLACES}
    assert Run.objects.filter(pk=run.pk).exists() is not whole
    assert removal.runs_half_removed(limit=1) == []


@pytest.mark.usefixtures("small_steps")
def test_a_step_takes_no_more_rows_than_it_may(django_assert_max_num_queries: Any) -> None:
    run = a_told_run(a_project())
    transcript_mark(pk=run.pk, by="the retention of 1 days", held=HELD)
    changed = []

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if sql.startswith(("UPDATE", "DELETE")) and "run_id = %s" in sql:
            changed.append(context["cursor"].rowcount)
        return answer

    with connection.execute_wrapper(watch):
        keeping.run_empty(run.pk)

    assert max(changed) <= 2
    assert sum(changed) >= 6 + 5 + 1


def days_of(project: Project, *rules: Rule, kept: Kept = Kept.TEXT) -> set[str]:
    found = runs_due(project=project, rules=rules, kept=kept, held=HELD)
    return set(found.values_list("run_id", flat=True))


def test_days_of_a_label_go_before_those_of_the_project() -> None:
    project = a_project()
    for days in (5, 15, 40):
        a_told_run(project, f"run-{days}", days_old=days)

    assert days_of(project) == set()
    assert days_of(project, Rule(text_days=30)) == {"run-40"}
    assert days_of(project, Rule(text_days=15)) == {"run-15", "run-40"}
    assert days_of(project, Rule("team", "sales", text_days=3)) == {"run-5", "run-15", "run-40"}
    assert days_of(project, Rule(text_days=3), Rule("team", "sales", text_days=20)) == {"run-40"}
    assert days_of(project, Rule(text_days=3), Rule("team", "legal", text_days=20)) == {
        "run-5",
        "run-15",
        "run-40",
    }
    # The pair as it stands: neither another value nor the two turned round.
    assert days_of(project, Rule("sales", "team", text_days=3)) == set()
    both = (Rule("team", "sales", text_days=20), Rule("team", "sales", metadata_days=3))
    assert days_of(project, *both) == {"run-40"}
    assert days_of(project, *both, kept=Kept.ALL) == {"run-5", "run-15", "run-40"}


def test_days_count_from_when_something_last_came() -> None:
    project = a_project()
    run = a_told_run(project, days_old=40)
    Run.objects.filter(pk=run.pk).update(updated_at=timezone.now() - timedelta(days=2))

    assert days_of(project, Rule(text_days=30)) == set()
    assert days_of(project, Rule(text_days=1)) == {"run-1"}


def test_another_project_s_rules_touch_nothing_here() -> None:
    project, other = a_project(), a_project()
    a_told_run(project, days_old=40)

    assert days_of(other, Rule(text_days=1)) == set()


def test_a_preview_says_what_would_go_and_what_is_held() -> None:
    project = a_project()
    runs = [a_told_run(project, f"run-{days}", days_old=days) for days in (10, 20, 30)]
    run_hold(run=runs[0], why=typed_masker(project).text("court"), user=None)

    due = retention_preview(project=project, rules=[Rule(text_days=5)], kept=Kept.TEXT, held=HELD)

    assert (due.runs, due.rounds, due.held) == (2, 12, 1)
    assert due.oldest == runs[2].received_at
    assert 500 < due.size < 20_000
    assert not due.is_more
    nothing = retention_preview(project=project, rules=[], kept=Kept.TEXT, held=HELD)
    assert (nothing.runs, nothing.size, nothing.oldest, nothing.held) == (0, 0, None, 0)


def of_label(project: Project, name: str, value: str, **days: int) -> Rule:
    masker = typed_masker(project)
    return Rule(masker.text(name), masker.text(value), **days)


def apply() -> None:
    """As the beat does."""
    for pk in keeping.projects_with_rules():
        assert not keeping.project_retain(project_pk=pk, seconds=60)


def test_the_beat_removes_what_is_past_its_days_and_says_so() -> None:
    project = a_project()
    for days in (5, 40, 400):
        a_told_run(project, f"run-{days}", days_old=days)
    rules_set(project=project, rules=[Rule(text_days=30, metadata_days=365)])

    apply()

    left = {run.run_id: run for run in Run.objects.order_by("pk")}
    assert set(left) == {"run-5", "run-40"}
    assert left["run-5"].text_removed_at is None
    assert left["run-40"].text_removed_by == "the retention of 30 days"
    line = AccessEntry.objects.get(action=AccessAction.RETENTION)
    assert line.detail == {"runs": 1, "transcripts": 1, "receipts": 0}
    assert line.who == "on the server"
    apply()
    assert AccessEntry.objects.filter(action=AccessAction.RETENTION).count() == 1


def test_receipts_go_with_the_first_runs_and_what_waits_stays() -> None:
    project = a_project()
    for state in DeliveryState.values:
        Delivery.objects.create(
            project=project,
            kind=DeliveryKind.RUNS,
            state=state,
            digest=b"d",
            body=b"",
            size=1,
            received_at=timezone.now() - timedelta(days=40),
        )
    rules_set(project=project, rules=[Rule(text_days=10)])
    apply()
    assert Delivery.objects.count() == len(DeliveryState)

    rules_set(project=project, rules=[of_label(project, "team", "sales", metadata_days=30)])
    apply()

    assert set(Delivery.objects.values_list("state", flat=True)) == {
        *("held", "accepted", "quarantined")
    }


def test_a_run_on_hold_is_not_removed_until_the_hold_is_lifted() -> None:
    project = a_project()
    run = a_told_run(project, days_old=40)
    rules_set(project=project, rules=[Rule(text_days=10, metadata_days=20)])
    run_hold(run=run, why=typed_masker(project).text("court"), user=a_user())

    apply()
    with pytest.raises(HeldError):
        run_erase(pk=run.pk, held=HELD)
    assert tables_with(word("reply"))
    assert run_release(run=run)
    apply()

    assert not Run.objects.exists()


def test_runs_of_an_incident_on_hold_are_kept_also_those_that_join_later() -> None:
    project = a_project()
    first, later, free = (a_told_run(project, f"run-{n}", days_old=40) for n in (1, 2, 3))
    incident = an_incident(first, held=True)
    IncidentRun.objects.create(
        incident=incident, fingerprint=incident.fingerprints.get(), run=later, round=1
    )
    rules_set(project=project, rules=[Rule(metadata_days=20)])

    apply()

    assert set(Run.objects.values_list("run_id", flat=True)) == {"run-1", "run-2"}
    with pytest.raises(HeldError):
        run_erase(pk=later.pk, held=HELD)
    incident.held = False
    incident.save()
    apply()
    assert not Run.objects.exists()
    assert free.pk


def test_a_hold_that_came_in_between_is_seen_when_the_run_is_marked() -> None:
    run = a_told_run(a_project(), days_old=40)
    run_hold(run=run, why=typed_masker(run.project).text("court"), user=None)

    assert not transcript_mark(pk=run.pk, by="the retention of 1 days", held=HELD)
    assert not removal.run_mark(pk=run.pk, by="the retention of 1 days", held=HELD)


def test_what_came_in_between_is_seen_when_the_run_is_marked() -> None:
    run = a_told_run(a_project())

    assert not transcript_mark(
        pk=run.pk,
        by="the retention of 1 days",
        held=Q(),
        unchanged_since=run.updated_at - timedelta(days=1),
    )


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param([Rule(text_days=0)], id="no day"),
        pytest.param([Rule(text_days=40_000)], id="too many days"),
        pytest.param([Rule(text_days=20, metadata_days=10)], id="text longer than its run"),
        pytest.param([Rule(text_days=1), Rule(metadata_days=5)], id="twice"),
        pytest.param([Rule("a", str(n), 1) for n in range(51)], id="too many rules"),
    ],
)
def test_rules_that_cannot_be_are_refused(rules: list[Rule]) -> None:
    project = a_project()
    with pytest.raises(RetentionError):
        rules_set(project=project, rules=rules)


def delivered(project: Project, document: dict[str, Any]) -> Delivery:
    """A delivery after a worker took it."""
    delivery, _ = delivery_accept(
        project=project, kind=DeliveryKind.RUNS, content=json.dumps(document).encode()
    )
    delivery_process(delivery.pk)
    delivery.refresh_from_db()
    return delivery


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["removed", "erased"])
def test_what_comes_afterwards_is_not_kept_and_the_receipt_says_so(way: str) -> None:
    project = a_project()
    first = delivered(project, told("run-1"))
    run = Run.objects.get()
    (erased if way == "erased" else removed)(run)

    again = delivered(project, {**told("run-1"), "rounds": native_rounds(9)})
    other = delivered(project, told("run-2"))

    assert (again.state, again.outcome["runs_gone"], again.outcome["runs"]) == ("stored", 1, [])
    assert bytes(again.body) == b""
    assert other.outcome["runs_gone"] == 0
    assert tables_with(word("reply")) == set()
    assert Run.objects.filter(run_id="run-1").exists() is (way == "removed")
    first.refresh_from_db()
    assert first.outcome["runs"][0]["run_id"] == ("" if way == "erased" else "run-1")
    _, key = a_key(project)
    receipt = Client(headers={"Authorization": f"Bearer {key}"}).get(
        f"/api/v1/deliveries/{again.pk}"
    )
    assert receipt.json()["runs_gone"] == 1


def test_an_erasure_is_of_one_project() -> None:
    project, other = a_project(), a_project()
    run, same_id = a_told_run(project), a_told_run(other)

    erased(run)

    assert Run.objects.get() == same_id
    assert ErasedRun.objects.get().project == project


@pytest.fixture
def reading() -> tuple[Client, Client, Run]:
    """A person's client, a key's client, and a run whose transcript was removed."""
    project = a_project()
    run = removed(a_told_run(project))
    person = Client()
    person.force_login(a_member(project, Role.ADMIN, restricted=True))
    _, key = a_key(project)
    return person, Client(headers={"Authorization": f"Bearer {key}"}), run


def test_the_page_of_a_removed_transcript_says_when_and_by_what(
    reading: tuple[Client, Client, Run],
) -> None:
    person, _, run = reading

    page = person.get(f"/p/{run.project.slug}/runs/{run.pk}/")
    listed = person.get(f"/p/{run.project.slug}/runs/?tab=all")

    assert page.status_code == listed.status_code == 200
    day = f"{run.text_removed_at.day} {run.text_removed_at:%B %Y}"
    assert f"Its transcript was removed on {day} by the retention of 90 days." in page.text
    assert "unanswered" not in page.text.lower().split("<main")[1].split("findings ·")[0]
    assert "Find in this run" not in page.text
    assert "TCK-run-1" in listed.text
    assert not AccessEntry.objects.filter(action=AccessAction.READ).exists()


@pytest.mark.parametrize(
    "part",
    [
        "part/?first=1&last=3",
        "changes/?first=1&last=3",
        "find/?q=reply",
        "export/",
        "rounds/1/input/",
        "rounds/1/text/?part=reply",
        "rounds/1/calls/",
    ],
)
def test_what_shows_text_says_that_it_is_gone(
    reading: tuple[Client, Client, Run], part: str
) -> None:
    person, _, run = reading

    answer = person.get(f"/p/{run.project.slug}/runs/{run.pk}/{part}")

    assert answer.status_code == 410
    assert "by the retention of 90 days" in answer.text


def test_the_api_says_that_it_is_gone(reading: tuple[Client, Client, Run]) -> None:
    _, key, run = reading

    for part in ("rounds", "export"):
        answer = key.get(f"/api/v1/runs/{run.run_id}/{part}")
        assert (answer.status_code, answer["Content-Type"]) == (410, "application/problem+json")
        assert "by the retention of 90 days" in answer.json()["detail"]
    told_of = key.get(f"/api/v1/runs/{run.run_id}").json()
    assert told_of["transcript_removed_at"] is not None
    assert told_of["rounds"] == 6
    findings = key.get(f"/api/v1/runs/{run.run_id}/findings").json()["findings"]
    assert findings
    assert "canary" not in json.dumps(findings)


def test_a_removed_transcript_is_not_read_again() -> None:
    run = a_told_run(a_project())
    Verdict.objects.filter(run=run).update(stale_since=timezone.now() - timedelta(hours=1))
    removed(run)
    before = Verdict.objects.get(run=run)

    assert tasks.run_analyse(run.pk) is False
    with pytest.raises(ValueError, match="no transcript"):
        run_analyse(run=Run.objects.get(pk=run.pk))

    after = Verdict.objects.get(run=run)
    assert (after.sentence, after.kind) == (before.sentence, before.kind)
    assert after.stale_since is None


def test_a_marked_project_stops_at_its_time() -> None:
    project = a_project()
    a_told_run(project, days_old=40)
    rules_set(project=project, rules=[Rule(text_days=1)])

    gone = project_mark(project=project, held=HELD, end=time.monotonic(), empty=lambda pk: None)

    assert gone == {"runs": 0, "transcripts": 0, "receipts": 0}
    assert tables_with(word("reply"))


def test_rounds_and_calls_are_there_to_be_counted_only() -> None:
    run = removed(a_told_run(a_project()))

    assert Round.objects.filter(run=run).count() == 6
    assert ToolCall.objects.filter(run=run).count() == 5
