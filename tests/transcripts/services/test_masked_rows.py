"""A secret that a later delivery gives away is masked in what earlier ones left, and nowhere else
is anything changed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.limits.learning import baseline_learn, baselines_refresh
from analysis.models import (
    Annotation,
    AnnotationVersion,
    Finding,
    Fingerprint,
    Incident,
    IncidentEvent,
    IncidentRun,
    LimitSet,
    Verdict,
)
from analysis.services.verdicts import run_analyse
from tests.factories import a_member, a_project, a_record, a_user
from transcripts.maskers import run_masker
from transcripts.masking import masked_text
from transcripts.models import (
    Delivery,
    MaskRule,
    Message,
    Project,
    RetentionRule,
    Round,
    Run,
    ToolCall,
)
from transcripts.services.masked_rows import run_mask_again
from transcripts.services.masking import mask_rule_save, masking_choice_save
from transcripts.services.runs import StoreOutcome, run_store

pytestmark = pytest.mark.django_db

SECRET = "Kestrel_Falls_4417/q"
BARE = f"the value {SECRET} was used"
GIVEN_AWAY = f"The password is {SECRET}"


def sent(project: Project, body: dict[str, Any], *, live: bool = True) -> StoreOutcome:
    with transaction.atomic():
        stored = run_store(project=project, fragment=a_record(**body), live=live)
        run_analyse(run=stored.run)
    return stored


def tables_with(words: str) -> list[str]:
    """Every table of the database in which a row holds the words, however its columns are kept."""
    forms = {words, json.dumps(words)[1:-1], words.lower()}
    found = []
    for model in apps.get_models():
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')
            if any(form in row for (row,) in cursor.fetchall() for form in forms):
                found.append(table)
    return found


EARLIER = {
    "run_id": "late",
    "title": BARE,
    "ticket_id": "T-1",
    "labels": {"note": BARE},
    "tools": [{"name": "look", "description": BARE, "schema": {"default": SECRET}}],
    "messages": [{"key": "m", "role": "user", "content": BARE}],
    "rounds": [
        {
            "round": 1,
            "stop": "wants_tool",
            "input": {"added": ["m"], "dropped": []},
            "reply": BARE,
            "reasoning": json.dumps({"in": BARE}),
            "calls": [
                {
                    "id": "c1",
                    "name": "look",
                    "args": {"q": SECRET, "n": 1},
                    "result": json.dumps({"out": [BARE]}),
                    "is_error": True,
                }
            ],
        },
        {"round": 2, "stop": "error", "error": BARE, "calls": []},
    ],
}
LATER = {
    "run_id": "late",
    "rounds": [{"round": 3, "stop": "finished", "reply": GIVEN_AWAY, "calls": []}],
}


def test_a_secret_that_is_known_later_goes_from_all_rows() -> None:
    project = a_project()
    run = sent(project, EARLIER).run
    Delivery.objects.create(
        project=project, kind="runs", digest=b"d", size=1, outcome={"runs": [{"pk": run.pk}]}
    )
    there = set(tables_with(SECRET))

    stored = sent(project, LATER)

    assert {"transcripts_run", "transcripts_message", "transcripts_round"} < there
    assert {"transcripts_toolcall", "analysis_finding"} < there
    assert stored.changed
    assert tables_with(SECRET) == []
    run.refresh_from_db()
    placeholder = f"[SECRET:password:{next(iter(run.mask_known))[:8]}]"
    round_ = Round.objects.get(run=run, number=1)
    assert str(run.title) == BARE.replace(SECRET, placeholder)
    assert str(round_.reply) == str(run.title)
    assert json.loads(str(round_.reasoning)) == {"in": str(run.title)}
    call = ToolCall.objects.get(run=run)
    assert json.loads(str(call.args)) == {"q": placeholder, "n": 1}
    assert run.labels == [["note", str(run.title)]]
    assert run.mask_hits["known-value"] >= 8


def test_what_hangs_on_the_run_and_what_it_is_in_is_masked_too() -> None:
    project = a_project()
    run = sent(project, EARLIER).run
    told, now = masked_text(BARE), timezone.now()
    note = Annotation.objects.create(project=project, run=run, kind="note", author=a_user())
    AnnotationVersion.objects.create(annotation=note, text=told)
    seen = {"first_seen_at": now, "last_seen_at": now}
    incident = Incident.objects.create(project=project, number=1, title=told, **seen)
    fingerprint = Fingerprint.objects.create(
        project=project, incident=incident, digest=b"f", grouping=1, error=told
    )
    IncidentRun.objects.create(incident=incident, fingerprint=fingerprint, run=run, round=1)
    IncidentEvent.objects.create(incident=incident, kind="seen", detail={"title": told})

    sent(project, LATER)

    assert tables_with(SECRET) == []
    incident.refresh_from_db()
    assert "[SECRET:password:" in incident.title


def test_sending_again_what_was_masked_later_still_changes_nothing() -> None:
    project = a_project()
    sent(project, EARLIER)
    sent(project, LATER)

    again = sent(project, EARLIER)

    assert (again.new, again.replaced, again.folded) == (0, 0, 2)
    assert tables_with(SECRET) == []


def test_a_run_id_that_holds_it_is_masked_where_deliveries_tell_it() -> None:
    project = a_project()
    run = sent(project, {**EARLIER, "run_id": f"run of {SECRET}"}).run
    told = {"runs": [{"pk": run.pk, "run_id": run.run_id}], "runs_stored": 1}
    delivery = Delivery.objects.create(
        project=project, kind="runs", digest=b"d", size=1, outcome=told
    )

    sent(project, {**LATER, "run_id": f"run of {SECRET}"})

    delivery.refresh_from_db()
    run.refresh_from_db()
    assert delivery.outcome["runs"][0]["run_id"] == run.run_id
    assert SECRET not in str(run.run_id)
    assert tables_with(SECRET) == []


def test_a_delivery_that_teaches_nothing_reads_no_earlier_row() -> None:
    project = a_project()
    sent(project, EARLIER)
    sent(project, LATER)
    record = a_record(
        run_id="late", rounds=[{"round": 4, "stop": "finished", "reply": GIVEN_AWAY, "calls": []}]
    )

    with transaction.atomic(), CapturedTexts() as read:
        run_store(project=project, fragment=record, live=True)

    assert read == []


class CapturedTexts(list[str]):
    """The statements that read texts of earlier rows."""

    def __enter__(self) -> CapturedTexts:
        self._wrapper = connection.execute_wrapper(self._note)
        self._wrapper.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._wrapper.__exit__(*error)

    def _note(self, execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT") and '"reasoning"' in sql:
            self.append(sql)
        return execute(sql, *rest)


def test_all_of_a_run_is_masked_again_under_a_new_rule() -> None:
    project = a_project()
    run = sent(project, {**EARLIER, "title": "badge 44182 of Ann"}, live=False).run
    old = run.mask_rule_set
    a_rule(project)
    project.refresh_from_db()

    with transaction.atomic():
        changed = run_mask_again(run=run, masker=run_masker(project, run))

    run.refresh_from_db()
    assert changed == 1
    assert str(run.title).startswith("badge [SECRET:badge:")
    assert (old, run.mask_rule_set) == (old, f"{old}+1")
    assert run.mask_hits["own.badge"] == 1
    with transaction.atomic():
        assert run_mask_again(run=run, masker=run_masker(project, run)) == 0


def test_a_run_that_goes_on_under_new_rules_keeps_the_older_name() -> None:
    project = a_project()
    run = sent(project, EARLIER).run
    a_rule(project)
    project.refresh_from_db()

    stored = sent(
        project,
        {
            "run_id": "late",
            "rounds": [{"round": 3, "stop": "finished", "reply": "badge 77120", "calls": []}],
        },
    )

    assert "+" not in stored.run.mask_rule_set
    assert "77120" not in str(Round.objects.get(run=run, number=3).reply)


def test_names_and_kinds_of_personal_data_hold_on_the_way_in() -> None:
    project = a_project()
    kinds = {"card": False, "iban": True, "email": True, "phone": True}
    masking_choice_save(project=project, kinds=kinds, names=["Desk"], user=a_member(project))
    body = json.dumps({"desk": "B-12", "mail": "ann@acme.example", "tel": "+49 30 1234567"})
    call = {"id": "c", "name": "look", "args": {}, "result": body, "is_error": False}

    run = sent(
        project,
        {"run_id": "p", "rounds": [{"round": 1, "stop": "wants_tool", "calls": [call]}]},
    ).run

    result = json.loads(str(ToolCall.objects.get(run=run).result))
    assert {name: value.split(":")[1] for name, value in result.items()} == {
        "desk": "password",
        "mail": "email",
        "tel": "phone",
    }
    assert run.mask_rule_set.endswith("+1")


def a_rule(project: Project) -> MaskRule:
    return mask_rule_save(
        project=project,
        rule=None,
        name="badge",
        family="badge",
        pattern=r"badge (\d{5})",
        must="badge 12345",
        must_not="page 12345",
        user=a_member(project),
    )


PIECES = st.lists(
    st.sampled_from([BARE, GIVEN_AWAY, "all is well", f'{{"k": "{SECRET}"}}']),
    min_size=2,
    max_size=5,
)


@given(PIECES, st.data())
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_however_a_run_is_cut_up_it_holds_what_it_holds_whole(
    texts: list[str], data: st.DataObject
) -> None:
    rounds = [
        {"round": number, "stop": "finished", "reply": text, "calls": []}
        for number, text in enumerate(texts, start=1)
    ]
    cut = data.draw(st.integers(1, len(rounds) - 1))
    whole, parts = a_project(), a_project()

    sent(whole, {"run_id": "r", "rounds": rounds})
    sent(parts, {"run_id": "r", "rounds": rounds[:cut]})
    sent(parts, {"run_id": "r", "rounds": rounds[cut:]})

    def masked(project: Project) -> list[bool]:
        rows = Round.objects.filter(run__project=project).order_by("number")
        return ["[SECRET:" in str(row.reply) for row in rows]

    assert masked(whole) == masked(parts)
    assert Message.objects.count() == Finding.objects.filter(run=None).count()
    assert Run.objects.count() == Verdict.objects.count()


def test_names_that_a_project_keeps_of_a_run_go_with_it() -> None:
    """Versions that were seen, limits of an agent, days of a label: rows of no run."""
    project = a_project()
    agent = f"agent of {SECRET}"
    named = {"agent": agent, "prompt_version": f"v {SECRET}", "code_version": f"c {SECRET}"}
    sent(project, {**EARLIER, **named})
    LimitSet.objects.create(project=project, agent=masked_text(agent), values={"rounds": 9})
    RetentionRule.objects.create(
        project=project, label_name=masked_text("note"), label_value=masked_text(BARE), text_days=9
    )
    baseline_learn(project=project, agent=agent)
    other = a_project()
    LimitSet.objects.create(project=other, agent=masked_text(agent), values={"rounds": 9})
    assert "analysis_seenversion" in tables_with(SECRET)

    sent(project, LATER)
    other.delete()
    baselines_refresh()

    assert tables_with(SECRET) == []
    run = Run.objects.get(project=project)
    assert LimitSet.objects.get(project=project).agent == run.agent
    assert [RetentionRule.objects.get().label_value] == [value for _, value in run.labels]


def test_of_two_rows_of_one_name_one_stays() -> None:
    project = a_project()
    agent = f"agent of {SECRET}"
    sent(project, {**EARLIER, "agent": agent})
    plain = LimitSet.objects.create(project=project, agent=masked_text(agent), values={"rounds": 9})
    run = Run.objects.get(project=project)
    with transaction.atomic():
        masker = run_masker(project, run)
        masker.text(GIVEN_AWAY)
        name = masker.text(agent)
    LimitSet.objects.create(project=project, agent=name, values={"rounds": 7})

    sent(project, LATER)

    assert [row.values for row in LimitSet.objects.filter(project=project)] == [{"rounds": 7}]
    assert not LimitSet.objects.filter(pk=plain.pk).exists()
