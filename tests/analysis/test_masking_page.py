"""The page on masking: what is chosen, tried, saved, and masked again."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.jobs import job_advance, job_start
from analysis.masking_again import older_count, runs_to_mask
from analysis.models import Job, JobKind, JobState
from tests.builders import a_run, call
from tests.factories import a_member, a_project
from tests.page_runs import a_shown_run
from transcripts.choices import Role
from transcripts.models import AccessEntry, MaskingChoice, MaskRule, NotSecret, Project, Run

pytestmark = pytest.mark.django_db
RULE = {
    "name": "badge",
    "family": "badge",
    "pattern": r"badge (\d{5})",
    "must": "badge 44182",
    "must_not": "page 44182",
}


@pytest.fixture
def project() -> Project:
    return a_project("helpdesk")


@pytest.fixture
def desk(client: Client, project: Project) -> Client:
    client.force_login(a_member(project, Role.ADMIN))
    return client


@pytest.fixture
def runs(project: Project) -> list[Run]:
    """Two runs that hold badges, one that holds none, and one of another project that does."""
    look = call("look", {"q": "anna"}, '{"note": "badge 77120 of anna@acme.example"}')
    texts = (["badge 77120 and badge 77121", "again badge 77120"], ["badge 90001"], ["nothing"])
    made = [
        a_shown_run(a_run([look], *replies, run_id=f"r-{n}"), project) if n == 0
        else a_shown_run(a_run(*replies, run_id=f"r-{n}"), project)
        for n, replies in enumerate(texts)
    ]  # fmt: skip
    a_shown_run(a_run("badge 55555", run_id="x"), a_project("other"))
    return made


def page(name: str, *args: object) -> str:
    return reverse(f"analysis:{name}", args=["helpdesk", *args])


def post(desk: Client, view: str, /, *args: object, **form: Any) -> Any:
    return desk.post(page(view, *args), form, follow=True)


def test_it_shows_what_is_masked_and_by_which_rules(desk: Client) -> None:
    text = desk.get(page("masking")).content.decode()

    assert "Payment cards" in text
    assert 'name="card" checked' in text
    assert 'name="email">' in text
    assert "All were masked by the rule set of now." in text


def test_a_rule_is_tried_on_past_runs_and_nothing_is_saved(desk: Client, runs: list[Run]) -> None:
    answer = desk.post(page("mask_rule"), {**RULE, "action": "try"}, headers={"HX-Request": "true"})

    text = " ".join(answer.content.decode().split())
    assert "Would mask <b>3</b> more values, at 5 places, in <b>2</b> of 3 runs." in text
    assert not MaskRule.objects.exists()
    assert "77120" not in str(Job.objects.values_list("result", "wanted"))


def test_personal_data_is_tried_by_what_it_adds(desk: Client, runs: list[Run]) -> None:
    answer = desk.post(page("masking"), {"card": "on", "email": "on", "action": "try"})

    text = " ".join(answer.content.decode().split())
    assert "Would mask <b>1</b> more value, at 1 place, in <b>1</b> of 3 runs." in text
    assert not MaskingChoice.objects.exists()


def test_choices_are_saved_with_a_line(desk: Client, project: Project) -> None:
    post(desk, "masking", card="on", phone="on", names="Badge\n desk_no , badge", action="save")

    choice = MaskingChoice.objects.get()
    assert (choice.card, choice.iban, choice.email, choice.phone) == (True, False, False, True)
    assert choice.names == ["badge", "desk_no"]
    line = AccessEntry.objects.filter(action="settings").get()
    assert line.detail["before"]["names"] == []
    assert line.detail["version"] == 1


@pytest.mark.parametrize("action", ["try", "save"])
def test_a_rule_that_cannot_be_used_says_why(desk: Client, action: str) -> None:
    answer = desk.post(page("mask_rule"), {**RULE, "pattern": r"\d*", "action": action})

    assert answer.status_code == 422
    assert "matches the empty text" in answer.content.decode()
    assert not MaskRule.objects.exists()


def test_a_rule_is_saved_changed_and_removed(desk: Client) -> None:
    post(desk, "mask_rule", **RULE, action="save")
    rule = MaskRule.objects.get()
    shown = desk.get(page("mask_rule") + f"?rule={rule.pk}").content.decode()

    assert "badge (\\d{5})" in shown
    assert "44182" not in shown.replace("page 44182", "")
    desk.post(page("mask_rule") + f"?rule={rule.pk}", {**RULE, "family": "pass"})
    rule.refresh_from_db()
    assert rule.family == "pass"
    post(desk, "mask_rule_delete", rule.pk)
    assert not MaskRule.objects.exists()
    assert AccessEntry.objects.filter(action="settings").count() == 3


def test_a_rule_of_another_project_is_not_found(desk: Client) -> None:
    other = MaskRule.objects.create(project=a_project("other"), name="a", family="a", pattern="")

    assert desk.get(page("mask_rule") + f"?rule={other.pk}").status_code == 404
    assert desk.post(page("mask_rule_delete", other.pk)).status_code == 404
    assert desk.get(page("mask_rule") + "?rule=x").status_code == 404


def test_past_runs_are_masked_again_in_steps_with_their_verdicts(
    desk: Client, project: Project, runs: list[Run]
) -> None:
    post(desk, "mask_rule", **RULE, action="save")
    project.refresh_from_db()
    assert "3 runs were masked by an older rule set." in desk.get(page("masking")).content.decode()

    answer = post(desk, "runs_mask_again")
    job = Job.objects.get(kind=JobKind.MASK_AGAIN)
    assert "Masking past runs again: 0 of 3" in answer.content.decode()
    while job_advance(job_pk=job.pk, seconds=0):
        pass

    job.refresh_from_db()
    assert (job.state, job.read, job.changed) == (JobState.DONE, 3, 2)
    assert older_count(project) == 0
    text = desk.get(reverse("analysis:run_detail", args=["helpdesk", runs[0].pk])).content.decode()
    assert "77120" not in text
    assert 'class="secret' in text
    done = " ".join(desk.get(page("job_detail", job.pk)).content.decode().split())
    assert "4 texts changed in 2 runs" in done


def test_a_killed_job_goes_on_where_it_was(project: Project, runs: list[Run]) -> None:
    wanted, total = runs_to_mask(project=project, everything=True)
    job = job_start(project=project, kind=JobKind.MASK_AGAIN, wanted=wanted, total=total, user=None)
    Job.objects.filter(pk=job.pk).update(cursor=runs[1].pk, read=2)

    assert not job_advance(job_pk=job.pk, seconds=60)

    job.refresh_from_db()
    assert (job.read, job.state) == (3, JobState.DONE)


def test_one_run_that_fails_does_not_hold_up_the_others(
    project: Project, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    from analysis import masking_again

    whole = masking_again.run_mask_again

    def failing(*, run: Run, masker: Any) -> int:
        if run.pk == runs[0].pk:
            raise ValueError("badge 77120")
        return whole(run=run, masker=masker)

    monkeypatch.setattr(masking_again, "run_mask_again", failing)
    wanted, total = runs_to_mask(project=project, everything=True)
    job = job_start(project=project, kind=JobKind.MASK_AGAIN, wanted=wanted, total=total, user=None)

    job_advance(job_pk=job.pk, seconds=60)

    job.refresh_from_db()
    assert (job.read, job.result["failed"]) == (3, 1)


def test_engineers_see_no_masking_job(client: Client, project: Project) -> None:
    job = job_start(project=project, kind=JobKind.MASK_TRIAL, wanted={}, total=1, user=None)
    client.force_login(a_member(project, Role.ENGINEER))

    assert client.get(page("job_detail", job.pk)).status_code == 403
    assert client.post(page("job_stop", job.pk)).status_code == 403


def test_a_value_is_put_on_the_list_and_taken_off(desk: Client) -> None:
    post(desk, "not_secret_list", value="Orchid_4417", why="the demo's")
    shown = desk.get(page("masking")).content.decode()

    assert "the demo&#x27;s" in shown
    assert "Orchid" not in shown
    post(desk, "not_secret_delete", NotSecret.objects.get().pk)
    assert not NotSecret.objects.exists()


def test_a_chip_leads_to_its_receipt_and_off_to_the_list(desk: Client, project: Project) -> None:
    run = a_shown_run(a_run("the password is Orchid_4417", run_id="s"), project)
    (digest,) = run.mask_known
    receipt = reverse("transcripts:run_masked", args=["helpdesk", run.pk])
    text = desk.get(reverse("analysis:run_detail", args=["helpdesk", run.pk])).content.decode()
    assert f'data-masked="{receipt}"' in text

    shown = desk.get(receipt).content.decode()
    assert f'id="s-{digest[:8]}"' in shown
    assert run.mask_rule_set in shown
    answer = post(desk, "not_secret_list", run=run.pk, id=digest[:8], why="the demo's")

    assert "left alone in what comes from now on" in answer.content.decode()
    project.refresh_from_db()
    later = a_shown_run(a_run("the password is Orchid_4417", run_id="t"), project)
    assert later.mask_hits == {}


def test_a_run_of_another_project_gives_nothing_to_the_list(desk: Client) -> None:
    run = a_shown_run(a_run("the password is Orchid_4417", run_id="s"), a_project("other"))
    (digest,) = run.mask_known

    answer = desk.post(
        page("not_secret_list"), {"run": run.pk, "id": digest[:8], "why": "the demo's"}
    )

    assert answer.status_code == 404
    assert not NotSecret.objects.exists()
