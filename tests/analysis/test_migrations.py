"""Migrations that change rows, over a store that has some."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from analysis.models import Mention, Verdict
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run, the_vpn_run
from transcripts.choices import Role
from transcripts.models import Change

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def up_again() -> Iterator[None]:
    """All migrations applied afterwards, whatever a test did."""
    yield
    call_command("migrate", verbosity=0)


def test_verdicts_of_before_learn_their_project_and_wasted_rounds(up_again: None) -> None:
    looping = the_vpn_run(a_project("helpdesk"))
    clean = a_shown_run(a_run([call()], "Done.", run_id="clean"), a_project("billing"))
    told = dict(Verdict.objects.values_list("run", "wasted_rounds"))
    migrations = MigrationExecutor(connection)
    before = migrations.migrate([("analysis", "0009_add_alerts")])
    without = before.apps.get_model("analysis", "Verdict")
    columns = {column.name for column in without._meta.get_fields()}

    call_command("migrate", verbosity=0)

    assert not columns & {"project", "wasted_rounds"}
    assert dict(Verdict.objects.values_list("run", "wasted_rounds")) == told
    assert told[looping.pk] > 0
    assert told[clean.pk] == 0
    assert dict(Verdict.objects.values_list("run", "project")) == {
        looping.pk: looping.project_id,
        clean.pk: clean.project_id,
    }


def test_changes_of_before_can_still_be_taken_back(up_again: None) -> None:
    project = a_project("helpdesk")
    user = a_member(project, Role.LEAD)
    change = Change.objects.create(project=project, user=user, kind="case_made", before={"case": 1})
    before = MigrationExecutor(connection).migrate([("analysis", "0015_find_findings_by_tool")])
    told = before.apps.get_model("analysis", "Change").objects.values_list("pk", "kind", "before")
    there = list(told)

    call_command("migrate", verbosity=0)

    assert there == [(change.pk, "case_made", {"case": 1})]
    assert list(Change.objects.values_list("pk", "kind", "before")) == there
    assert Change.objects.create(project=project, user=user, kind="case_made").pk > change.pk


def test_mentions_of_before_are_kept_and_old_ones_count_as_read(up_again: None) -> None:
    project = a_project("helpdesk")
    run = the_vpn_run(project)
    user = a_member(project, Role.LEAD)
    now = timezone.now()
    MigrationExecutor(connection).migrate([("analysis", "0021_index_alerts")])
    with connection.cursor() as cursor:
        for days in (1, 30):
            cursor.execute(
                "INSERT INTO analysis_annotation (project_id, run_id, kind, pointer, said_suite,"
                " cause, text, fix_link, created_at) VALUES (%s, %s, 'note', '', '', '', '', '',"
                " %s) RETURNING id",
                (project.pk, run.pk, now - timedelta(days=days)),
            )
            cursor.execute(
                "INSERT INTO analysis_annotation_mentions (annotation_id, user_id) VALUES (%s, %s)",
                (cursor.fetchone()[0], user.pk),
            )

    call_command("migrate", verbosity=0)

    told = Mention.objects.order_by("annotation__created_at")
    assert [each.read_at is not None for each in told] == [True, False]
    assert {each.user for each in told} == {user}
