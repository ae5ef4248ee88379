from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.jobs import job_start
from analysis.limits.learning import baseline_learn
from analysis.limits.sets import Scope, limit_book
from analysis.models import Job, JobKind, JobState, LimitSet, Verdict
from analysis.reading_again import runs_to_read
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import AccessAction, Role
from transcripts.masking import masked_text
from transcripts.models import AccessEntry, Change, Project, Run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def engineer(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ENGINEER))
    return client


def address(name: str = "limits", *args: object, **query: str) -> str:
    from urllib.parse import urlencode

    return reverse(f"analysis:{name}", args=["helpdesk", *args]) + (
        f"?{urlencode(query)}" if query else ""
    )


def a_past_run(project: Project, rounds: int, **fields: Any) -> Run:
    calls = [[call("look_up", {"n": number}, f"answer {number}")] for number in range(rounds - 1)]
    name = f"run-{Run.objects.count()}"
    fields = {"agent": "helpdesk", "ticket_id": f"T-{rounds}", **fields}
    return a_shown_run(a_run(*calls, "Done.", run_id=name, **fields), project)


def values_of(project: Project, agent: str = "", tool: str = "") -> dict[str, Any]:
    return limit_book(project_id=project.pk).of(Scope(agent, tool))


def test_saves_limits_of_the_project(engineer: Client, project: Project) -> None:
    answer = engineer.post(
        address(), {"action": "save", "rounds": "20", "minutes": "1.5", "cost": "2.50"}, follow=True
    )

    assert "Saved. Runs that come from now on" in answer.content.decode()
    assert values_of(project) == {"rounds": 20, "seconds": 90.0, "cost": "2.50"}
    assert 'name="minutes" value="1.5"' in answer.content.decode()
    assert AccessEntry.objects.get(action=AccessAction.SETTINGS).detail["before"] == {}


def test_saves_limits_of_an_agent_and_of_a_tool(engineer: Client, project: Project) -> None:
    engineer.post(address(agent="a/b ü"), {"rounds": "9"})
    engineer.post(address(agent="a/b ü", tool="wait_*"), {"polled": "yes", "silent": "no"})
    engineer.post(address(tool="book"), {"effect": "changes", "repeat_limit": "1"})

    assert values_of(project, "a/b ü") == {"rounds": 9}
    assert values_of(project, "a/b ü", "wait_*") == {"polled": True, "silent": False}
    assert values_of(project, "", "book") == {"effect": "changes", "repeat_limit": 1}
    page = engineer.get(address(agent="a/b ü")).content.decode()
    assert "polled, not silent" in page
    assert "changes something, same call up to once" in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rounds": "0"}, "greater than or equal to 1"),
        ({"rounds": "many"}, "Enter a whole number."),
        ({"cost": "0"}, "cost: must be an amount above 0"),
        ({"minutes": "nan"}, "Enter a number."),
        ({"repeat_mode": "sometimes"}, "Select a valid choice."),
    ],
)
def test_says_what_is_wrong_and_keeps_what_was_typed(
    engineer: Client, fields: dict[str, str], said: str
) -> None:
    answer = engineer.post(address(), {"action": "save", "context_window": "4321", **fields})

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert 'value="4321"' in answer.content.decode()
    assert not LimitSet.objects.exists()


@pytest.mark.parametrize("query", [{"agent": "a" * 301}, {"tool": "x\x00"}])
def test_there_is_no_page_for_impossible_names(engineer: Client, query: dict[str, str]) -> None:
    assert engineer.get(address(**query)).status_code == 404


def test_previews_without_saving(engineer: Client, project: Project) -> None:
    for rounds in (3, 5, 7):
        a_past_run(project, rounds)

    part = engineer.post(address(), {"action": "preview", "rounds": "4"}, headers=HTMX)

    text = part.content.decode()
    assert "<html" not in text
    assert "Would flag <b>2</b> of 3 runs instead of <b>0</b>." in text
    assert "2 runs would get another verdict or other findings." in text
    assert "T-7" in text
    assert "T-3" not in text
    assert "+ Round limit passed" in text
    assert not LimitSet.objects.exists()
    assert not Verdict.objects.filter(flagged=True).exists()


def test_a_preview_works_without_javascript(engineer: Client, project: Project) -> None:
    a_past_run(project, 7)

    page = engineer.post(address(), {"action": "preview", "rounds": "4"}).content.decode()

    assert "Would flag <b>1</b> of 1 run instead of <b>0</b>." in page
    assert 'name="rounds" value="4"' in page


def test_a_preview_of_nothing(engineer: Client) -> None:
    part = engineer.post(address(), {"action": "preview", "rounds": "4"}, headers=HTMX)

    assert "There are no past runs yet" in part.content.decode()


def test_a_preview_of_mistakes_says_them(engineer: Client) -> None:
    part = engineer.post(address(), {"action": "preview", "rounds": "0"}, headers=HTMX)

    assert part.status_code == 200
    assert "Rounds: Ensure this value is greater than or equal to 1." in part.content.decode()
    assert not Job.objects.exists()


def test_a_long_preview_goes_on_in_a_worker(
    engineer: Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    queued: list[object] = []
    monkeypatch.setattr("analysis.limits.previews.RUNS_PER_STEP", 1)
    monkeypatch.setattr("analysis.views.limits.AT_ONCE_SECONDS", 0)
    monkeypatch.setattr("analysis.jobs.enqueue", lambda *told: queued.append(told))
    for _ in range(3):
        a_past_run(project, 7)

    with django_capture_on_commit_callbacks(execute=True):
        answer = engineer.post(address(), {"action": "preview", "rounds": "4"}, headers=HTMX)
        # A worker finds the job when it is told of it.
        assert queued == []
    text = answer.content.decode()

    job = Job.objects.get()
    assert queued == [("agentdesk.tasks.job_run", job.pk)]
    assert "1 of 3" in text
    assert f'hx-get="{address("job_detail", job.pk)}" hx-trigger="load delay:1s"' in text


def test_says_what_was_learned_and_from_how_many_runs(engineer: Client, project: Project) -> None:
    for _ in range(20):
        a_past_run(project, 4)
    a_past_run(project, 9, agent="billing")
    for agent in ("helpdesk", "billing"):
        baseline_learn(project=project, agent=agent)

    page = engineer.get(address()).content.decode()
    own = engineer.get(address(agent="helpdesk")).content.decode()

    assert "from 20 finished runs" in page
    assert "from 1 finished run, not used under 20" in page
    assert "learned: twice what 95% of 20 finished runs stay under" in own
    assert "as the run says, else 8, learned" in own
    assert "from 1 finished run" not in own


def test_tells_what_holds_where_nothing_is_set(engineer: Client, project: Project) -> None:
    LimitSet.objects.create(project=project, values={"rounds": 33})
    a_past_run(project, 3)

    page = engineer.get(address(agent="helpdesk")).content.decode()

    assert "If empty: for all agents: 33." in page
    assert "If empty: as the run says, else none." in page


def test_the_file_is_what_check_reads(engineer: Client, project: Project) -> None:
    LimitSet.objects.create(project=project, values={"rounds": 33, "cost": "1.5"})
    LimitSet.objects.create(
        project=project,
        agent=masked_text("helpdesk"),
        tool=masked_text("w"),
        values={"polled": True},
    )

    answer = engineer.get(address("limits_file", agent="helpdesk"))

    assert json.loads(answer.content) == {"rounds": 33, "cost": "1.5", "polled": ["w"]}
    assert "attachment" in answer.headers["Content-Disposition"]


def test_takes_a_file_in(engineer: Client, project: Project) -> None:
    file = SimpleUploadedFile("l.json", b'{"rounds": 7, "silent": ["rm"]}')

    page = engineer.post(address("limits_file", agent="helpdesk"), {"file": file}, follow=True)

    assert "Taken in: 2 sets of limits changed." in page.content.decode()
    assert values_of(project, "helpdesk") == {"rounds": 7}
    assert values_of(project, "helpdesk", "rm") == {"silent": True}


def test_a_file_that_was_taken_in_is_taken_back(engineer: Client, project: Project) -> None:
    engineer.post(address(agent="helpdesk"), {"rounds": "33"})
    content = b'{"rounds": 7, "silent": ["rm"]}'
    for _ in range(2):
        file = SimpleUploadedFile("l.json", content)
        engineer.post(address("limits_file", agent="helpdesk"), {"file": file})
    change = Change.objects.latest("pk")
    button = reverse("transcripts:change_back", args=[project.slug, change.pk])

    page = engineer.post(button, follow=True).content.decode()

    assert "2 sets of limits are as before" in page
    assert values_of(project, "helpdesk") == {"rounds": 33}
    assert values_of(project, "helpdesk", "rm") == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b"[1]", "must be an object with limits by name"),
        (b'{"round": 3}', "round: no such limit"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b" " * (2**20 + 1), "of 1 MiB at most"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    engineer: Client, project: Project, content: bytes, said: str
) -> None:
    file = SimpleUploadedFile("l.json", content)

    page = engineer.post(address("limits_file"), {"file": file}, follow=True).content.decode()

    assert "The file was not taken in:" in page
    assert said in page
    assert not LimitSet.objects.exists()


def test_what_a_file_holds_is_masked_in_the_reason(engineer: Client, project: Project) -> None:
    key = "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS"
    file = SimpleUploadedFile("l.json", f'{{"{key}": 3}}'.encode())

    answer = engineer.post(address("limits_file"), {"file": file})

    assert key not in str(answer.cookies)
    page = engineer.get(address()).content.decode()
    assert "no such limit" in page
    assert 'class="secret' in page
    assert key not in page


def test_reads_past_runs_again(engineer: Client, project: Project) -> None:
    a_past_run(project, 7)
    engineer.post(address(), {"rounds": "4"})
    assert "1 run was read under other limits" in engineer.get(address()).content.decode()

    page = engineer.post(address("runs_read_again"), follow=True).content.decode()

    job = Job.objects.get(kind=JobKind.READ_AGAIN)
    assert "Reading past runs again: 0 of 1" in page
    assert f'action="{address("job_stop", job.pk)}"' in page


def test_nothing_to_read_again(engineer: Client, project: Project) -> None:
    a_past_run(project, 7)

    page = engineer.post(address("runs_read_again"), follow=True).content.decode()

    assert "All runs were read under the limits and by the detectors of now." in page
    assert not Job.objects.exists()


@pytest.mark.parametrize("role", [Role.OBSERVER, Role.LEAD])
def test_only_engineers_read_again(client: Client, project: Project, role: Role) -> None:
    client.force_login(a_member(project, role))

    assert client.post(address("runs_read_again")).status_code == 403
    assert client.get(address("job_detail", 1)).status_code == 403


def test_a_job_is_cancelled(engineer: Client, project: Project) -> None:
    a_past_run(project, 7)
    wanted, total = runs_to_read(project=project, everything=True)
    job = job_start(project=project, kind=JobKind.READ_AGAIN, wanted=wanted, total=total, user=None)

    part = engineer.post(address("job_stop", job.pk), headers=HTMX).content.decode()

    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert "Cancelled after 0 of 1 runs; what was read stays read." in part
    assert "hx-get" not in part


def test_a_job_of_another_project_is_not_found(engineer: Client) -> None:
    job = Job.objects.create(project=a_project(), kind=JobKind.READ_AGAIN, total=3)

    assert engineer.get(address("job_detail", job.pk)).status_code == 404
    assert engineer.post(address("job_stop", job.pk)).status_code == 404


def test_a_preview_names_no_run_of_another_project(engineer: Client, project: Project) -> None:
    foreign = a_past_run(a_project(), 3, ticket_id="T-secret")
    change = {"run": foreign.pk, "flips": True, "flagged": True, "kinds": ["finished", "finished"]}
    job = Job.objects.create(
        project=project,
        kind=JobKind.PREVIEW,
        state=JobState.DONE,
        total=1,
        changed=1,
        result={"changes": [{**change, "gained": [], "lost": [], "moved": []}]},
    )

    assert "T-secret" not in engineer.get(address("job_detail", job.pk)).content.decode()


def test_hostile_names_stay_text(engineer: Client, project: Project) -> None:
    evil = "<img src=x onerror=alert(1)>{{ 7|add:7 }}"
    a_past_run(project, 3, agent=evil)
    engineer.post(address(agent=evil, tool=evil), {"polled": "yes"})

    pages = [engineer.get(address(**query)).content.decode() for query in (
        {}, {"agent": evil}, {"agent": evil, "tool": evil}
    )]  # fmt: skip

    assert not [page for page in pages if "<img" in page]
    assert "{{ 7|add:7 }}" in pages[1]
