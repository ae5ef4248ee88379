from __future__ import annotations

import json
from decimal import Decimal

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from analysis.detectors.limits import (
    Baseline,
    Limits,
    LimitsError,
    RepeatMode,
    limits_content,
    limits_from,
)
from analysis.limits.learning import baseline_learn
from analysis.limits.previews import preview_wanted
from analysis.limits.sets import (
    LimitBook,
    Scope,
    baseline_of,
    clean_values,
    known_limits,
    limit_book,
    limit_set_save,
    limits_import,
)
from analysis.models import LearnedBaseline, LimitSet
from tests.builders import a_run, call
from tests.factories import a_project, a_user
from tests.page_runs import a_shown_run
from transcripts.choices import AccessAction
from transcripts.models import AccessEntry, Project

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
sets = st.frozensets(names, max_size=3)
numbers = st.one_of(st.none(), st.floats(1e-3, 1e9))
amounts = st.one_of(st.none(), st.decimals("0.0001", 10**6, places=4))
wholes = st.one_of(st.none(), st.integers(1, 10**6))


def save(project: Project, scope: Scope, **values: object) -> bool:
    return limit_set_save(
        project=project,
        scope=scope,
        values=values,
        user=a_user(),
        request=RequestFactory().post("/"),
    )


def test_the_narrower_goes_before_the_wider() -> None:
    book = LimitBook(
        {
            Scope(): {"rounds": 20, "seconds": 60.0},
            Scope("helpdesk"): {"rounds": 30},
            Scope("", "wait"): {"polled": True, "repeat_limit": 5},
            Scope("helpdesk", "wait"): {"polled": False, "effect": "changes"},
        }
    )

    everyone, helpdesk = book.applied("billing").limits, book.applied("helpdesk").limits

    assert (everyone.rounds, everyone.seconds) == (20, 60)
    assert (helpdesk.rounds, helpdesk.seconds) == (30, 60)
    assert (everyone.polled, helpdesk.polled) == (frozenset({"wait"}), frozenset())
    assert helpdesk.repeats_allowed("wait") == everyone.repeats_allowed("wait") == 5
    assert (everyone.mutating, helpdesk.mutating) == (frozenset(), frozenset({"wait"}))


def test_nothing_set_is_the_default() -> None:
    applied = LimitBook().applied("helpdesk")

    assert applied.limits == Limits()
    assert applied.digest == ""


def test_the_digest_tells_what_is_set_and_not_what_is_learned() -> None:
    book = LimitBook({Scope("helpdesk"): {"rounds": 20}})

    plain = book.applied("helpdesk").digest

    assert plain == book.applied("helpdesk", Baseline(runs=50, rounds_p95=9)).digest
    assert plain != book.with_set(Scope("helpdesk"), {"rounds": 21}).applied("helpdesk").digest
    assert book.applied("billing").digest == ""


def test_who_says_that_a_tool_must_answer_goes_before_what_was_learned() -> None:
    baseline = Baseline(runs=30, silent_tools=frozenset({"rm", "get_user"}))
    book = LimitBook({Scope("", "get_*"): {"silent": False}})

    assert book.applied("", baseline).limits.baseline.silent_tools == {"rm"}


@pytest.mark.parametrize(("runs", "used"), [(19, False), (20, True)])
def test_a_median_cost_takes_20_normal_runs(runs: int, used: bool) -> None:
    learned = LearnedBaseline(runs=40, cost_medians={"INR": ["6.5", runs]}, rounds_p95=9.0)

    assert (baseline_of(learned, currency="INR").cost_median == Decimal("6.5")) is used
    assert baseline_of(learned, currency="USD").cost_median is None
    assert baseline_of(learned, currency="USD").rounds_p95 == 9


@pytest.mark.parametrize(
    ("scope", "values", "said"),
    [
        (Scope(), {"rounds": 0}, "rounds: must be a whole number of at least 1"),
        (Scope(), {"polled": True}, "polled: no such limit"),
        (Scope(), {"cost": "-1"}, "cost: must be an amount above 0"),
        (Scope(), {"baseline": {"runs": 50}}, "baseline: no such limit"),
        (Scope("", "wait"), {"rounds": 3}, "rounds: no such limit"),
        (Scope("", "wait"), {"polled": "yes"}, "polled: must be true or false"),
        (Scope("", "wait"), {"effect": "both"}, "effect: must be one of changes, reads"),
        (Scope("", "wait"), {"repeat_limit": 0}, "repeat_limits.wait: must be a whole number"),
        (Scope("a" * 301), {"rounds": 3}, "a name may have 300 characters"),
    ],
)
def test_says_what_cannot_be_set(scope: Scope, values: dict[str, object], said: str) -> None:
    with pytest.raises(LimitsError) as error:
        clean_values(scope, values)

    assert said in str(error.value)


@pytest.mark.django_db
def test_a_change_leaves_what_was_and_what_is_in_the_audit_log() -> None:
    project = a_project()
    save(project, Scope("helpdesk"), rounds=20)

    changed = save(project, Scope("helpdesk"), rounds=30, cost="5")
    same = save(project, Scope("helpdesk"), rounds=30, cost="5")

    assert changed is not None
    assert same is None
    line = AccessEntry.objects.filter(action=AccessAction.SETTINGS).latest("pk")
    assert line.detail == {
        "limits": {"agent": "helpdesk", "tool": ""},
        "before": {"rounds": 20},
        "after": {"rounds": 30, "cost": "5"},
    }
    assert AccessEntry.objects.count() == 2
    assert limit_book(project_id=project.pk).of(Scope("helpdesk")) == {"rounds": 30, "cost": "5"}


@pytest.mark.django_db
def test_a_secret_among_names_is_kept_nowhere() -> None:
    """Whoever types a name, or writes a limits file, may paste something else."""
    secret = "ghp_Zx9Kq2Wm4Lr7Tn1Vb8Yc3Df6Gh5Jk0PqRsTu"
    project = a_project()

    save(project, Scope(f"desk {secret}", secret), repeat_limit=3)
    limits_import(
        project=project, agent="", content={"polled": [f"wait {secret}"]}, user=a_user(),
        request=RequestFactory().post("/"),
    )  # fmt: skip
    wanted, _ = preview_wanted(project=project, scope=Scope(secret), values={"rounds": 3})

    rows = list(LimitSet.objects.order_by("pk").values_list("agent", "tool"))
    told = json.dumps([*AccessEntry.objects.values_list("detail", flat=True), rows, wanted])
    assert secret not in told
    assert len(rows) == 2
    assert rows[0][1].startswith("[SECRET:")
    assert wanted["agent"] == rows[0][1]


@pytest.mark.django_db
def test_emptying_a_set_removes_it() -> None:
    project = a_project()
    save(project, Scope(), rounds=20)

    save(project, Scope(), rounds=None)

    assert not LimitSet.objects.exists()
    assert AccessEntry.objects.latest("pk").detail["after"] == {}


@pytest.mark.django_db
def test_limits_of_one_project_are_not_those_of_another() -> None:
    save(a_project(), Scope(), rounds=20)

    assert limit_book(project_id=a_project().pk).sets == {}


@pytest.mark.django_db
def test_a_run_is_read_under_the_limits_of_its_agent() -> None:
    project = a_project()
    save(project, Scope("helpdesk"), rounds=2)
    rounds = [[call("look_up", {"n": number}, f"answer {number}")] for number in range(4)]

    limited = a_shown_run(a_run(*rounds, "Done.", run_id="a", agent="helpdesk"), project)
    free = a_shown_run(a_run(*rounds, "Done.", run_id="b", agent="billing"), project)

    assert limited.verdict.flagged
    assert not free.verdict.flagged
    found = limited.findings.get(detector="round_limit_passed")
    assert "as set" in found.why
    assert limited.verdict.limits == limit_book(project_id=project.pk).applied("helpdesk").digest


@given(
    st.builds(
        Limits,
        rounds=wholes,
        seconds=numbers,
        cost=amounts,
        repeat_limit=st.integers(1, 9),
        repeat_limits=st.dictionaries(names, st.integers(1, 9), max_size=3),
        repeat_mode=st.sampled_from(RepeatMode),
        repeat_window=st.integers(1, 99),
        polled=sets,
        silent=sets,
        mutating=sets,
        reading=sets,
        context_window=wholes,
        idle_seconds=numbers,
        baseline=st.builds(
            Baseline,
            runs=st.integers(0, 999),
            rounds_p95=numbers,
            seconds_p95=numbers,
            cost_median=amounts,
            tool_ms_p95=st.dictionaries(names, st.floats(1, 1e6), max_size=3),
            silent_tools=sets,
        ),
    )
)
def test_the_file_says_what_the_limits_are(limits: Limits) -> None:
    text = json.dumps(limits_content(limits))

    assert limits_from(json.loads(text)) == limits


@pytest.mark.django_db
def test_a_file_goes_in_the_place_of_what_is_set() -> None:
    project = a_project()
    save(project, Scope(), rounds=20)
    save(project, Scope("", "gone"), polled=True)
    save(project, Scope("helpdesk"), rounds=9)
    content = {
        "seconds": 90,
        "repeat_limits": {"search": 4},
        "polled": ["wait_*"],
        "mutating": ["search"],
        "baseline": {"runs": 50},
    }

    changed = limits_import(
        project=project,
        agent="",
        content=content,
        user=a_user(),
        request=RequestFactory().post("/"),
    )

    book = limit_book(project_id=project.pk)
    assert len(changed) == 4
    assert book.sets == {
        Scope(): {"seconds": 90},
        Scope("helpdesk"): {"rounds": 9},
        Scope("", "search"): {"repeat_limit": 4, "effect": "changes"},
        Scope("", "wait_*"): {"polled": True},
    }
    out = limits_content(book.applied("").limits)
    assert out == {
        "seconds": 90.0,
        "repeat_limits": {"search": 4},
        "polled": ["wait_*"],
        "mutating": ["search"],
    }


@pytest.mark.django_db
def test_a_file_with_a_mistake_changes_nothing() -> None:
    project = a_project()
    save(project, Scope(), rounds=20)

    with pytest.raises(LimitsError, match=r"repeat_limits\.x: must be a whole number"):
        limits_import(
            project=project,
            agent="",
            content={"rounds": 5, "repeat_limits": {"x": "many"}},
            user=a_user(),
            request=RequestFactory().post("/"),
        )

    assert limit_book(project_id=project.pk).sets == {Scope(): {"rounds": 20}}


@pytest.mark.django_db
def test_one_query_tells_sets_and_what_was_learned() -> None:
    project = a_project()
    for number in range(3):
        record = a_run([call("rm", {"n": 1}, "")] * 8, "Done.", run_id=f"r{number}", agent="a")
        a_shown_run(record, project)
    kept = baseline_learn(project=project, agent="a")
    save(project, Scope("a", "rm"), polled=True)
    save(a_project(), Scope(), rounds=3)

    with CaptureQueriesContext(connection) as captured:
        book, learned = known_limits(project_id=project.pk, agent="a")

    assert len(captured) == 1
    assert book == limit_book(project_id=project.pk)
    assert learned is not None
    assert baseline_of(learned, currency="") == baseline_of(kept, currency="")
    assert known_limits(project_id=project.pk, agent="b") == (book, None)
