"""Who may do what."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from tests.factories import a_member, a_project, a_stored_run, a_user
from transcripts.access import May, memberships_of, reader_for, run_for
from transcripts.choices import Role

pytestmark = pytest.mark.django_db

TABLE = {
    May.SEE_RUNS: {Role.OBSERVER, Role.LEAD, Role.ENGINEER, Role.ADMIN},
    May.READ_TRANSCRIPTS: {Role.LEAD, Role.ENGINEER, Role.ADMIN},
    May.TRIAGE: {Role.LEAD, Role.ENGINEER, Role.ADMIN},
    May.ENGINEER: {Role.ENGINEER, Role.ADMIN},
    May.ADMINISTER: {Role.ADMIN},
}


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("what", May)
def test_roles_may_what_the_table_says(role: Role, what: May) -> None:
    project = a_project()
    reader = reader_for(a_member(project, role), project.slug)

    assert reader.may(what) == (role in TABLE[what])
    if role not in TABLE[what]:
        with pytest.raises(PermissionDenied, match=str(role)):
            reader.require(what)


def test_no_membership_is_not_found() -> None:
    project = a_project()

    with pytest.raises(Http404):
        reader_for(a_user(), project.slug)


def test_a_project_that_is_not_there_answers_the_same() -> None:
    with pytest.raises(Http404, match="No such project, or you are not a member"):
        reader_for(a_user(), "nowhere")


def test_who_was_switched_off_has_no_memberships() -> None:
    user = a_member(a_project())
    user.is_active = False

    assert memberships_of(user) == []


def test_a_run_of_another_project_is_not_found() -> None:
    run = a_stored_run()

    with pytest.raises(Http404):
        run_for(a_project(), run.pk)


@pytest.mark.parametrize("role", [Role.LEAD, Role.ADMIN])
@pytest.mark.parametrize("named", [True, False])
def test_restricted_runs_are_for_who_is_named(role: Role, named: bool) -> None:
    project = a_project()
    run = a_stored_run(project, labels={"Restricted": "hr"})
    reader = reader_for(a_member(project, role, restricted=named), project.slug)

    assert run.restricted
    assert reader.may_read(run) == named
    if not named:
        with pytest.raises(PermissionDenied, match="restricted"):
            reader.require_read(run)


def test_being_named_is_not_a_role() -> None:
    project = a_project()
    run = a_stored_run(project, labels={"restricted": "yes"})
    reader = reader_for(a_member(project, Role.OBSERVER, restricted=True), project.slug)

    assert not reader.may_read(run)
