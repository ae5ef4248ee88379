"""`./desk erase`: says what it takes, asks, and erases at once."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.agentdesk.test_keeping import a_told_run, an_incident, tables_with, word
from tests.factories import a_project
from transcripts.choices import AccessAction
from transcripts.models import AccessEntry, Run

pytestmark = pytest.mark.django_db


def erase(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_runs", "--project", "helpdesk", *arguments, stdout=out)
    return out.getvalue()


def test_it_erases_a_run_at_once_and_leaves_a_line() -> None:
    project = a_project("helpdesk")
    a_told_run(project)
    a_told_run(project, "run-2")

    said = erase("--run", "run-1", "--yes")

    assert "1 runs with 6 rounds" in said
    assert set(Run.objects.values_list("run_id", flat=True)) == {"run-2"}
    assert tables_with(word("reply")) == set()
    line = AccessEntry.objects.get(action=AccessAction.DELETE)
    assert (line.who, line.what) == ("on the server", "run-1")


def test_it_erases_all_runs_of_a_ticket_when_the_id_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = a_project("helpdesk")
    a_told_run(project)
    monkeypatch.setattr("builtins.input", lambda words: "TCK-run")
    with pytest.raises(CommandError, match="Nothing was erased"):
        erase("--ticket", "TCK-run-1")
    assert Run.objects.exists()
    monkeypatch.setattr("builtins.input", lambda words: "TCK-run-1")

    erase("--ticket", "TCK-run-1")

    assert not Run.objects.exists()


@pytest.mark.parametrize("said", [("--run", "run-9"), ("--ticket", ""), ("--ticket", "TCK-9")])
def test_it_tells_that_there_is_no_such_run(said: tuple[str, str]) -> None:
    a_told_run(a_project("helpdesk"))

    with pytest.raises(CommandError, match="no such run"):
        erase(*said, "--yes")


def test_it_erases_nothing_that_is_held() -> None:
    project = a_project("helpdesk")
    an_incident(a_told_run(project), held=True)

    with pytest.raises(CommandError, match="legal hold"):
        erase("--run", "run-1", "--yes")
    assert tables_with(word("reply"))
