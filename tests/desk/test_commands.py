"""The commands behind `./desk import` and `./desk export`, and `add_member`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.page_runs import EXAMPLE
from transcripts.choices import AccessAction, DeliveryState, Role
from transcripts.models import AccessEntry, Delivery, Membership, Project, Run, User

# Claims of deliveries are committed by themselves.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="helpdesk", name="Helpdesk")


def call(*words: str | Path) -> str:
    printed = io.StringIO()
    call_command(*map(str, words), stdout=printed, stderr=printed)
    return printed.getvalue()


def test_import_takes_a_file_in_and_says_how_much(project: Project) -> None:
    printed = call("import_runs", EXAMPLE, "--project", "helpdesk")

    assert printed.splitlines() == [
        f"{EXAMPLE}: 1 run, vpn-20931; 52 rounds: 52 new, 0 repeated",
        "",
        "1 file: 1 run, 52 rounds: 52 new, 0 repeated",
        "/p/helpdesk/runs/?tab=all",
    ]
    assert Run.objects.get().project == project
    assert bytes(Delivery.objects.get().body) == b""


def test_import_again_changes_nothing(project: Project) -> None:
    call("import_runs", EXAMPLE, "--project", "helpdesk")

    assert "0 new, 52 repeated" in call("import_runs", EXAMPLE, "--project", "helpdesk")
    assert Run.objects.count() == 1


def test_a_file_that_cannot_be_read_is_set_aside_and_the_others_are_not(
    project: Project, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"rounds": [')
    printed = io.StringIO()
    files = [str(broken), str(EXAMPLE)]

    with pytest.raises(SystemExit) as exit_:
        call_command("import_runs", *files, project="helpdesk", stdout=printed)

    assert exit_.value.code == 1
    assert f"{broken}: in quarantine, receipt " in printed.getvalue()
    assert f"{EXAMPLE}: 1 run, vpn-20931; 52 rounds: 52 new" in printed.getvalue()
    assert Delivery.objects.filter(state=DeliveryState.QUARANTINED).count() == 1


def test_import_names_a_file_that_is_missing(project: Project, tmp_path: Path) -> None:
    printed = io.StringIO()
    missing = str(tmp_path / "missing.json")

    with pytest.raises(SystemExit) as exit_:
        call_command("import_runs", missing, project="helpdesk", stdout=printed)

    assert exit_.value.code == 2
    assert "missing.json: No such file or directory" in printed.getvalue()


def test_import_into_a_project_that_is_not_there(project: Project) -> None:
    with pytest.raises(CommandError, match="no such project"):
        call("import_runs", EXAMPLE, "--project", "other")


def test_export_writes_the_stored_run_and_leaves_a_line(project: Project) -> None:
    call("import_runs", EXAMPLE, "--project", "helpdesk")

    exported = json.loads(call("export_run", "vpn-20931", "--as", "native"))

    assert len(exported["rounds"]) == 52
    assert "Quarter-End-7731" not in json.dumps(exported)
    entry = AccessEntry.objects.get(action=AccessAction.EXPORT)
    assert (entry.who, entry.what) == ("on the server", "vpn-20931")


def test_an_export_can_be_imported_again(project: Project, tmp_path: Path) -> None:
    call("import_runs", EXAMPLE, "--project", "helpdesk")
    file = tmp_path / "out.json"
    call("export_run", "vpn-20931", "--as", "native", "--output", file)
    other = Project.objects.create(slug="other", name="Other")

    printed = call("import_runs", file, "--project", "other")

    assert "52 new" in printed
    assert Run.objects.get(project=other).ending == "stopped"


def test_export_of_another_projects_run_finds_nothing(project: Project) -> None:
    Project.objects.create(slug="other", name="Other")
    call("import_runs", EXAMPLE, "--project", "helpdesk")

    with pytest.raises(CommandError, match="no such run"):
        call("export_run", "vpn-20931", "--project", "other")


def test_add_member_makes_project_and_account() -> None:
    printed = call("add_member", "ann@example.org", "--project", "field")

    membership = Membership.objects.get()
    assert (membership.project.slug, membership.role) == ("field", Role.ADMIN)
    password = printed.split("password is ")[1].split(";")[0]
    assert membership.user.check_password(password)
    assert AccessEntry.objects.filter(action=AccessAction.MEMBER).count() == 1


def test_add_member_gives_a_person_who_is_known_no_new_password(project: Project) -> None:
    User.objects.create_user("ann@example.org", "a long password")

    printed = call("add_member", "Ann@example.org", "--project", "helpdesk", "--role", "lead")

    assert "password" not in printed
    assert User.objects.get().check_password("a long password")


@pytest.mark.parametrize(
    ("email", "slug"),
    [
        pytest.param("no address", "helpdesk", id="address"),
        pytest.param("ann@example.org", "no slug", id="project"),
    ],
)
def test_add_member_refuses_what_is_malformed(email: str, slug: str) -> None:
    with pytest.raises(CommandError):
        call("add_member", email, "--project", slug)

    assert (User.objects.count(), Project.objects.count()) == (0, 0)
