"""What is done to the runs that were chosen in the list, and taking it back."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agentdesk.keeping import run_empty
from analysis.jobs import job_advance, notes_forget
from analysis.lists import bulk
from analysis.models import Job, JobKind, RunTriage
from tests.builders import a_run, call
from tests.factories import a_member, a_project, a_user
from tests.page_runs import a_shown_run
from transcripts.choices import AccessAction, Role
from transcripts.maskers import typed_masker
from transcripts.masking import masked_text
from transcripts.models import AccessEntry, Change, Project, Run, User
from transcripts.undo import UNDONE_WITHIN

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = a_project("helpdesk")
    for number in range(4):
        a_shown_run(a_run([call()], "Done.", run_id=f"run-{number}", agent="a"), project)
    return project


def signed_in(project: Project, role: Role, **fields: bool) -> tuple[Client, User]:
    client = Client()
    user = a_member(project, role, **fields)
    client.force_login(user)
    return client, user


def do(client: Client, project: Project, what: str, *runs: str, **form: object) -> object:
    pks = list(Run.objects.filter(run_id__in=runs).values_list("pk", flat=True))
    address = reverse("analysis:run_selection", args=[project.slug])
    return client.post(address, {"do": what, "run": pks, "list": "tab=all", **form})


def listed(client: Client, project: Project, query: str) -> set[str]:
    page = client.get(f"{reverse('analysis:run_list', args=[project.slug])}?{query}")
    return {run.run_id for run in page.context["page"].runs}


def test_runs_get_an_owner_and_lose_it_again(project: Project) -> None:
    client, user = signed_in(project, Role.LEAD)

    do(client, project, "assign", "run-1", "run-2", owner="me")

    assert listed(client, project, "tab=mine") == {"run-1", "run-2"}
    assert listed(client, project, f"tab=all&owner={user.pk}") == {"run-1", "run-2"}
    assert listed(client, project, "tab=all&owner=nobody") == {"run-0", "run-3"}
    line = AccessEntry.objects.get(action=AccessAction.TRIAGE)
    assert len(line.detail["runs"]) == 2
    client.post(reverse("transcripts:change_back", args=[project.slug, Change.objects.get().pk]))
    assert listed(client, project, "tab=mine") == set()


def test_an_owner_is_a_member(project: Project) -> None:
    client, _ = signed_in(project, Role.LEAD)

    do(client, project, "assign", "run-1", owner=str(a_user().pk))

    assert not RunTriage.objects.exists()


def test_labels_are_put_and_taken_off(project: Project) -> None:
    client, _ = signed_in(project, Role.LEAD)

    do(client, project, "label", "run-1", "run-2", label="cause=vpn")
    do(client, project, "unlabel", "run-2", label="cause = vpn")

    assert listed(client, project, "tab=all&label=cause=vpn") == {"run-1"}
    for change in Change.objects.order_by("-pk"):
        client.post(reverse("transcripts:change_back", args=[project.slug, change.pk]))
    assert listed(client, project, "tab=all&label=cause=vpn") == set()


def test_a_secret_in_a_label_is_masked(project: Project) -> None:
    client, _ = signed_in(project, Role.LEAD)
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

    do(client, project, "label", "run-1", label=f"key={secret}")

    assert secret not in str(RunTriage.objects.get().labels)


def test_all_that_match_are_done_by_a_job(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk, "STEP", 2)
    client, user = signed_in(project, Role.LEAD)

    answer = do(client, project, "assign", all="1", owner="me", list="tab=all&agent=a")
    job = Job.objects.get()
    a_shown_run(a_run([call()], "Done.", run_id="later", agent="a"), project)
    job_advance(job_pk=job.pk, seconds=20)

    job.refresh_from_db()
    assert answer["Location"] == reverse("analysis:run_job", args=[project.slug, job.pk])  # type: ignore[index]
    assert (job.state, job.read, job.changed) == ("done", 4, 4)
    assert RunTriage.objects.filter(owner=user).count() == 4
    assert (
        "4 runs, of which 4 changed"
        in client.get(reverse("analysis:run_job", args=[project.slug, job.pk])).content.decode()
    )


def test_an_export_holds_what_one_may_read(project: Project) -> None:
    Run.objects.filter(run_id="run-3").update(restricted=True)
    client, _ = signed_in(project, Role.ENGINEER)
    form = {"as": ["native", "markdown"]}

    answer = do(client, project, "export", "run-1", "run-2", "run-3", **form)
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]

    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == [
            "run-1.json", "run-1.md", "run-2.json", "run-2.md",
        ]  # fmt: skip
    assert AccessEntry.objects.filter(action=AccessAction.EXPORT).count() == 2


def test_deleting_asks_first(project: Project) -> None:
    client, _ = signed_in(project, Role.ADMIN)

    asked = do(client, project, "delete", "run-1", "run-2")
    there = Run.objects.count()
    do(client, project, "delete", "run-1", "run-2", sure="yes")

    assert "Delete 2 runs for good?" in asked.content.decode()  # type: ignore[attr-defined]
    assert there == 4
    assert listed(client, project, "tab=all") == {"run-0", "run-3"}
    for run in Run.objects.filter(run_id__in=("run-1", "run-2")):
        assert run_empty(run.pk)
    assert Run.objects.count() == 2
    assert AccessEntry.objects.filter(action=AccessAction.DELETE).count() == 2


@pytest.mark.parametrize(
    ("role", "what", "status"),
    [
        (Role.OBSERVER, "assign", 403),
        (Role.LEAD, "export", 403),
        (Role.ENGINEER, "delete", 403),
        (Role.LEAD, "nothing", 302),
    ],
)
def test_roles_hold(project: Project, role: Role, what: str, status: int) -> None:
    client, _ = signed_in(project, role)

    assert do(client, project, what, "run-1", owner="me").status_code == status  # type: ignore[attr-defined]


def test_runs_of_another_project_are_not_touched(project: Project) -> None:
    other = a_project("other")
    a_shown_run(a_run([call()], "Done.", run_id="foreign"), other)
    client, _ = signed_in(project, Role.ADMIN)

    for what in ("assign", "label", "delete"):
        do(client, project, what, "foreign", owner="me", label="x", sure="yes")

    assert not RunTriage.objects.exists()
    assert Run.objects.filter(run_id="foreign", removal="").exists()


def test_a_job_is_cancelled_where_it_is(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    client, _ = signed_in(project, Role.LEAD)
    do(client, project, "assign", all="1", owner="me", list="tab=all")
    job = Job.objects.get()
    page = client.get(reverse("analysis:run_job", args=[project.slug, job.pk])).content.decode()
    stop = reverse("analysis:run_job_stop", args=[project.slug, job.pk])

    answer = client.post(stop)
    job_advance(job_pk=job.pk, seconds=20)

    assert f'action="{stop}"' in page
    assert answer["Location"] == reverse("analysis:run_job", args=[project.slug, job.pk])  # type: ignore[index]
    assert Job.objects.get().state == "cancelled"
    assert not RunTriage.objects.exists()


def test_jobs_of_other_kinds_are_no_jobs_over_chosen_runs(project: Project) -> None:
    client, user = signed_in(project, Role.LEAD)
    job = Job.objects.create(project=project, kind=JobKind.MASK_AGAIN, user=user)

    for name in ("run_job", "run_job_stop"):
        address = reverse(f"analysis:{name}", args=[project.slug, job.pk])
        answer = client.post(address) if name == "run_job_stop" else client.get(address)
        assert answer.status_code == 404

    assert Job.objects.get().state == "waiting"


@pytest.mark.parametrize("what", ["assign", "label"])
def test_a_job_is_taken_back_but_for_what_somebody_changed_since(
    project: Project, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk, "STEP", 2)
    client, _ = signed_in(project, Role.LEAD)
    other = a_member(project)
    masked = typed_masker(project).text
    old = [[masked("cause"), masked("disk")], [masked("team"), masked("it")]]
    first = Run.objects.get(run_id="run-0")
    RunTriage.objects.create(run=first, owner=other, labels=old)
    do(client, project, what, all="1", list="tab=all", owner="me", label="cause=vpn")
    job = Job.objects.get()
    page = reverse("analysis:run_job", args=[project.slug, job.pk])
    at_work = client.get(page).content.decode()
    job_advance(job_pk=job.pk, seconds=20)
    changed = RunTriage.objects.filter(run__run_id="run-1")
    changed.update(owner=other, labels=[[masked("cause"), masked("cable")]])

    done = client.get(page).content.decode()
    address = reverse("transcripts:change_back", args=[project.slug, Change.objects.get().pk])
    said = client.post(address, {"next": page}, follow=True).content.decode()

    assert address not in at_work
    assert f'action="{address}"' in done
    assert "3 runs are as before; 1 that somebody has changed since stays as now." in said
    assert "see what came of it" in said
    assert address not in said
    triage = RunTriage.objects.get(run=first)
    assert (triage.owner, triage.labels) == (other, old)
    assert changed.get().owner == other
    assert changed.get().labels == [["cause", "cable"]]
    rest = RunTriage.objects.exclude(run__run_id__in=("run-0", "run-1"))
    assert not rest.exclude(owner=None, labels=[]).exists()


def test_a_job_at_work_is_not_taken_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    client, _ = signed_in(project, Role.LEAD)
    do(client, project, "assign", all="1", list="tab=all", owner="me")
    address = reverse("transcripts:change_back", args=[project.slug, Change.objects.get().pk])

    said = client.post(address, follow=True).content.decode()

    assert "still at work. Cancel it first." in said
    assert Job.objects.count() == 1


def test_what_a_job_noted_is_forgotten_after_a_day(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    client, _ = signed_in(project, Role.LEAD)
    do(client, project, "assign", all="1", list="tab=all", owner="me")
    job_advance(job_pk=Job.objects.get().pk, seconds=20)

    today = notes_forget()
    Job.objects.update(created_at=timezone.now() - UNDONE_WITHIN - timedelta(minutes=1))

    assert (today, notes_forget()) == (0, 4)


@pytest.mark.parametrize("what", ["assign", "label", "delete"])
def test_all_that_match_are_named_by_no_query(
    project: Project, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A query is as long, and a step as many, for ten thousand runs as for ten."""
    monkeypatch.setattr(bulk, "AT_ONCE", 10)
    monkeypatch.setattr(bulk, "STEP", 10)
    first = Run.objects.get(run_id="run-0")
    copies = Run.objects.filter(pk=first.pk).values(
        *(field.attname for field in Run._meta.concrete_fields if not field.primary_key)
    )[0]
    Run.objects.bulk_create(
        Run(**{**copies, "run_id": masked_text(f"copy-{n}"), "digest": n.to_bytes(16)})
        for n in range(2_000)
    )
    client, _ = signed_in(project, Role.ADMIN)

    with CaptureQueriesContext(connection) as asked:
        do(client, project, what, all="1", list="tab=all", owner="me", label="x", sure="yes")
    job = Job.objects.get()
    with CaptureQueriesContext(connection) as stepped:
        job_advance(job_pk=job.pk, seconds=0)
        job_advance(job_pk=job.pk, seconds=0)

    job.refresh_from_db()
    assert (job.total, job.read) == (pytest.approx(2_004, rel=0.6), 20)
    longest = max(len(each["sql"]) for each in [*asked, *stepped])
    assert longest < 10_000
    assert len(asked) < 40
