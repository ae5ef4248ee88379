from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.models import Finding, ToolUse, Verdict
from tests.factories import a_project
from transcripts.keys import run_digest
from transcripts.masking import masked_text
from transcripts.models import Run
from transcripts.services.inserts import row_insert, rows_insert

pytestmark = pytest.mark.django_db


def a_run() -> Run:
    project = a_project()
    return Run(project=project, digest=run_digest(project.pk, "r"), run_id=masked_text("r"))


def a_kept_run() -> Run:
    run = a_run()
    run.save()
    return run


def a_verdict(run: Run, **change) -> Verdict:
    told = {
        "kind": "finished",
        "flagged": False,
        "sentence": masked_text("It “finished”\nat round 3."),
        "suite": "1",
        "wasted": {"rounds": 2, "cost": "0.5"},
        "cost": Decimal("12.3456789012"),
        "stale_since": timezone.now(),
    }
    return Verdict(run=run, project=run.project, **(told | change))


def a_finding(run: Run, **change) -> Finding:
    text = masked_text("why")
    told = {
        "order": 0,
        "detector": "failed_result",
        "version": 1,
        "severity": "fault",
        "odd": True,
        "round": 2,
        "why": text,
        "cause": text,
        "fix": text,
        "evidence": [{"round": 2, "call": None}],
        "values": {"error": masked_text("no\\such 'user'"), "share": 0.5, "each": [1, None]},
    }
    return Finding(run=run, **(told | change))


def told(instance) -> dict:
    names = [field.attname for field in type(instance)._meta.concrete_fields]
    return {name: getattr(instance, name) for name in names if name != "id"}


def test_rows_are_as_the_orm_would_have_written_them():
    run = a_kept_run()
    made = [
        a_verdict(run),
        a_finding(run),
        a_finding(run, order=1, call=3, tool=masked_text("look")),
        ToolUse(run=run, tool=masked_text("look"), calls=3, steps=[4, 7]),
    ]

    rows_insert(*made)

    kept = [run.verdict, *run.findings.order_by("order"), run.tool_uses.get()]
    assert [told(each) for each in kept] == [told(each) for each in made]


def test_several_tables_take_one_query():
    run = a_kept_run()

    with CaptureQueriesContext(
        connection,
    ) as queries:
        rows_insert(a_verdict(run), a_finding(run))
        rows_insert()

    assert len(queries) == 1


def test_a_row_takes_the_place_of_another_only_where_it_is_to():
    run = a_kept_run()
    rows_insert(a_verdict(run))

    with pytest.raises(IntegrityError), transaction.atomic():
        rows_insert(a_verdict(run))
    rows_insert(a_verdict(run, kind="repeats", cost=None), replacing=True)

    assert (Verdict.objects.get().kind, Verdict.objects.get().cost) == ("repeats", None)


@pytest.mark.parametrize("change", [{"why": "plain"}, {"values": {"error": ["plain"]}}])
def test_plain_text_is_refused_where_masked_text_is_kept(change):
    with pytest.raises(TypeError, match="plain text"):
        rows_insert(a_finding(a_kept_run(), **change))

    assert not Finding.objects.exists()


def test_an_inserted_row_knows_its_key():
    run = a_run()

    row_insert(run)
    run.title = masked_text("saved again")
    run.save()

    (kept,) = Run.objects.filter(project=run.project)
    assert (kept.pk, kept.title, bytes(kept.digest)) == (run.pk, "saved again", run.digest)
