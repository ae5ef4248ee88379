"""The examples: sent, marked, removed in one go, brought back."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from agentdesk.keeping import run_empty
from agentdesk.pipeline import delivery_process
from analysis import examples
from analysis.models import Annotation, AnnotationKind, Incident, TestCase
from tests.analysis.case_pages.made import a_test_case
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import AccessAction, Role
from transcripts.importers import read_runs
from transcripts.models import AccessEntry, Change, Delivery, Project, Run, RunHold
from transcripts.record import RunRecord
from transcripts.services.example_runs import (
    ExamplesError,
    example_runs,
    examples_of,
    examples_send,
)

# Claims of deliveries are committed by themselves.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    project = a_project("helpdesk")
    take_in(project)
    return project


def take_in(project: Project) -> None:
    delivery_process(examples_send(project=project).pk)


def client_of(project: Project, role: Role = Role.ADMIN) -> Client:
    client = Client()
    client.force_login(a_member(project, role))
    return client


def to(name: str) -> str:
    return reverse(f"analysis:{name}", args=["helpdesk"])


def page(client: Client, name: str, query: str = "") -> str:
    answer = client.get(to(name) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def empty_all() -> None:
    """What a worker does with runs that are marked."""
    for pk in Run.objects.exclude(removal="").values_list("pk", flat=True):
        run_empty(pk)


def test_they_are_read_without_a_fault_and_say_what_they_are_for(project: Project) -> None:
    runs = {run.run_id: run for run in Run.objects.select_related("verdict")}

    told = {name: (run.verdict.kind, run.verdict.flagged) for name, run in runs.items()}
    assert told == {
        "vpn-20931": ("stopped", True),
        "vpn-20931-again": ("finished", False),
        "password-20938": ("finished", False),
        "payroll-20962": ("handed_off", True),
    }
    assert all(run.is_example for run in runs.values())
    first = Incident.objects.get(number=1)
    assert first.title == "reset_vpn_profile returned nothing"


def test_the_files_themselves_are_no_examples() -> None:
    for run_id, text in example_runs().items():
        (record,) = read_runs(text.encode())
        assert isinstance(record, RunRecord)
        assert (record.run_id, record.labels["example"]) == (run_id, "yes")
        assert json.loads(text)["agent"] == "helpdesk"


def test_the_run_that_went_wrong_stands_first_among_the_flagged(project: Project) -> None:
    flagged = page(client_of(project), "run_list", "?tab=flagged")

    assert flagged.index("reset_vpn_profile returned nothing") < flagged.index("IT-20962")


def test_each_page_has_something_to_show(project: Project) -> None:
    client = client_of(project)
    again = Run.objects.get(run_id="vpn-20931-again")

    assert "Only its owner, the finance department" in page(client, "hand_off_list")
    assert "reset_vpn_profile returned nothing" in page(client, "incident_list")
    assert "send_password_link" in page(client, "tool_list")
    assert "4 runs" in page(client, "insights")
    compare = reverse("analysis:run_compare", args=["helpdesk", again.pk])
    assert "Of the same ticket" in client.get(compare).content.decode()


def test_they_are_marked_as_examples(project: Project) -> None:
    client = client_of(project)
    run = Run.objects.get(run_id="vpn-20931")

    assert page(client, "run_list", "?tab=all").count('<b class="example">example</b>') == 4
    assert "called <b>example</b>" in page(client, "run_list", "?tab=all")
    one = client.get(reverse("analysis:run_detail", args=["helpdesk", run.pk])).content.decode()
    assert "This run is an example that came" in one
    assert "example" in page(client, "hand_off_list")


def test_a_run_of_ones_own_is_not_called_an_example() -> None:
    project = a_project("helpdesk")
    a_shown_run(project=project)

    assert "called <b>example</b>" not in page(client_of(project), "run_list", "?tab=all")


def test_they_are_removed_in_one_go_with_what_hangs_on_them(project: Project) -> None:
    own = a_shown_run(project=project)
    run = Run.objects.get(run_id="vpn-20931")
    a_test_case(run)
    Annotation.objects.create(project=project, run=run, kind=AnnotationKind.NOTE)
    client = client_of(project)

    told = client.post(to("examples_gone"), follow=True).content.decode()
    empty_all()

    assert "4 examples removed." in told
    assert list(Run.objects.all()) == [own]
    assert not Incident.objects.exists()
    assert not Annotation.objects.exists()
    assert not TestCase.objects.filter(deleted_at=None).exists()
    assert AccessEntry.objects.filter(action=AccessAction.DELETE).count() == 4


def test_a_run_that_only_has_the_id_of_one_stays() -> None:
    project = a_project("helpdesk")
    (record,) = read_runs(example_runs()["vpn-20931"].replace("example", "sample").encode())
    assert isinstance(record, RunRecord)
    own = a_shown_run(record, project)

    assert not examples_of(project=project).exists()
    told = client_of(project).post(to("examples_gone"), follow=True).content.decode()

    assert "There was no example left." in told
    assert list(Run.objects.all()) == [own]


def test_removing_is_taken_back(project: Project) -> None:
    client = client_of(project)
    client.post(to("examples_gone"))
    empty_all()
    assert not Run.objects.exists()

    undo = reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk])
    told = client.post(undo, follow=True).content.decode()
    delivery_process(Delivery.objects.latest("received_at").pk)

    assert "The examples are on their way back." in told
    assert examples_of(project=project).count() == 4


def test_they_are_not_sent_while_they_are_being_removed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "WAIT_SECONDS", 0.0)
    client = client_of(project)
    client.post(to("examples_gone"))

    with pytest.raises(ExamplesError):
        examples_send(project=project)
    undo = reverse("transcripts:change_back", args=["helpdesk", Change.objects.get().pk])
    assert "still being removed" in client.post(undo, follow=True).content.decode()
    assert "still being removed" in client.post(to("examples_load"), follow=True).content.decode()


def test_one_on_legal_hold_keeps_all(project: Project) -> None:
    RunHold.objects.create(run=Run.objects.get(run_id="payroll-20962"))

    told = client_of(project).post(to("examples_gone"), follow=True).content.decode()

    assert "on legal hold" in told
    assert examples_of(project=project).count() == 4


def test_an_empty_project_offers_them() -> None:
    project = a_project("helpdesk")
    client = client_of(project, Role.ENGINEER)
    assert to("examples_load") in page(client, "run_list")

    answer = client.post(to("examples_load"))

    delivery = Delivery.objects.get()
    assert str(delivery.pk) in answer["Location"]
    delivery_process(delivery.pk)
    assert examples_of(project=project).count() == 4
    assert to("examples_load") not in page(client_of(project, Role.LEAD), "run_list")
