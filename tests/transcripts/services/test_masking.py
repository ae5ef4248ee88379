"""Changes of what a project masks: checked, counted, told in the audit log, in force at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import a_member, a_project, a_stored_run
from transcripts.choices import Role
from transcripts.maskers import delivery_masker, run_masker, typed_masker
from transcripts.models import AccessEntry, Delivery, MaskRule, NotSecret, Project, User
from transcripts.services.masking import (
    MaskingChoiceError,
    mask_rule_remove,
    mask_rule_save,
    masking_choice_save,
    not_secret_add,
    not_secret_from_run,
    not_secret_remove,
)

pytestmark = pytest.mark.django_db

TOKEN = "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS"
KINDS = {"card": True, "iban": True, "email": False, "phone": False}
RULE = {
    "name": "badge",
    "family": "badge",
    "pattern": r"badge (\d{5})",
    "must": "badge 44182",
    "must_not": "page 44182",
}


@pytest.fixture
def project() -> Project:
    return a_project()


@pytest.fixture
def admin(project: Project) -> User:
    return a_member(project, Role.ADMIN)


def add(project: Project, admin: User, **fields: Any) -> MaskRule:
    return mask_rule_save(project=project, rule=None, user=admin, **{**RULE, **fields})


def lines() -> list[dict[str, Any]]:
    return [entry.detail for entry in AccessEntry.objects.order_by("pk")]


def test_each_change_is_a_version_and_a_line(project: Project, admin: User) -> None:
    rule = add(project, admin)
    masking_choice_save(project=project, kinds={**KINDS, "email": True}, names=[], user=admin)
    mask_rule_remove(project=project, rule=rule, user=admin)

    assert [(line["masking"], line["version"]) for line in lines()] == [
        ("rule", 1),
        ("personal data", 2),
        ("rule", 3),
    ]
    assert lines()[0]["before"] is None
    assert lines()[0]["after"]["pattern"] == RULE["pattern"]
    assert (lines()[1]["before"]["email"], lines()[1]["after"]["email"]) == (False, True)
    assert lines()[2]["after"] is None
    assert project.masking_version == 3


def test_what_is_the_same_is_no_version(project: Project, admin: User) -> None:
    assert not masking_choice_save(project=project, kinds=KINDS, names=[], user=admin)
    assert lines() == []


def test_a_rule_holds_for_runs_deliveries_and_what_is_typed(project: Project, admin: User) -> None:
    add(project, admin)
    run = a_stored_run(project)
    delivery = Delivery(project=project)
    text = "badge 44182 was found"

    for masker in (run_masker(project, run), delivery_masker(delivery), typed_masker(project)):
        assert masker.text(text).startswith("badge [SECRET:badge:")
    assert typed_masker(a_project()).text(text) == text


def test_the_secret_of_an_example_is_kept_nowhere(project: Project, admin: User) -> None:
    rule = add(project, admin, must_not=f"page 44182 of {TOKEN}")

    rule.refresh_from_db()
    assert rule.must.startswith("badge [SECRET:badge:")
    assert TOKEN not in str(rule.must_not) + str(lines())
    assert "44182" not in str(lines()[0]["after"]["must"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"pattern": f"({TOKEN})", "must": TOKEN}, "describe its form"),
        ({"pattern": r"\w+"}, "must not match"),
        ({"pattern": r"\d*"}, "empty text"),
        ({"must": "nothing"}, "must match"),
    ],
)
def test_a_rule_that_cannot_be_used_changes_nothing(
    project: Project, admin: User, fields: dict[str, str], reason: str
) -> None:
    with pytest.raises(MaskingChoiceError, match=reason):
        add(project, admin, **fields)

    assert not MaskRule.objects.exists()
    assert project.masking_version == 0


def test_a_name_is_taken_once(project: Project, admin: User) -> None:
    add(project, admin)

    with pytest.raises(MaskingChoiceError, match="name"):
        add(project, admin)


def test_a_name_of_a_key_that_is_a_secret_is_refused(project: Project, admin: User) -> None:
    with pytest.raises(MaskingChoiceError, match="reads like a secret"):
        masking_choice_save(project=project, kinds=KINDS, names=[TOKEN], user=admin)


def test_a_value_that_is_no_secret_is_left_alone_until_it_is_taken_off(
    project: Project, admin: User
) -> None:
    text = "password=Orchid_4417"
    assert "Orchid" not in typed_masker(project).text(text)

    entry = not_secret_add(
        project=project, value="Orchid_4417", why=f"the demo's, not {TOKEN}", user=admin
    )

    run = a_stored_run(project)
    assert run_masker(project, run).text(text) == text
    assert "[SECRET:" in entry.why
    assert "Orchid" not in str(lines())
    not_secret_remove(project=project, entry=entry, user=admin)
    assert "Orchid" not in typed_masker(project).text(text)
    assert lines()[-1]["before"]["why"] == str(entry.why)


def test_a_placeholder_of_a_run_is_put_on_the_list_for_all_later_runs(
    project: Project, admin: User
) -> None:
    run = a_stored_run(project, title="password=Orchid_4417 it is")
    (digest,) = run.mask_known
    assert digest[:8] in str(run.title)

    not_secret_from_run(run=run, placeholder_id=digest[:8], why="the demo's", user=admin)

    project.refresh_from_db()
    later = a_stored_run(project, title="password=Orchid_4417 it is")
    assert str(later.title) == "password=Orchid_4417 it is"
    assert NotSecret.objects.get().shown == "password"
    other = a_stored_run(a_project(), title="password=Orchid_4417 it is")
    assert "Orchid" not in str(other.title)


@pytest.mark.parametrize("placeholder_id", ["00000000", "", "[SECRET:"])
def test_a_placeholder_that_the_run_does_not_have_is_refused(
    project: Project, admin: User, placeholder_id: str
) -> None:
    run = a_stored_run(project, title="password=Orchid_4417 it is")

    with pytest.raises(MaskingChoiceError, match="does not know"):
        not_secret_from_run(run=run, placeholder_id=placeholder_id, why="x", user=admin)


@pytest.mark.parametrize(
    ("value", "why", "reason"),
    [("ab", "x", "3 to"), ("abc_1234", " ", "Say why"), ("x" * 9000, "x", "3 to")],
)
def test_an_entry_needs_a_value_and_a_reason(
    project: Project, admin: User, value: str, why: str, reason: str
) -> None:
    with pytest.raises(MaskingChoiceError, match=reason):
        not_secret_add(project=project, value=value, why=why, user=admin)


def test_a_value_stands_on_the_list_once(project: Project, admin: User) -> None:
    not_secret_add(project=project, value="Orchid_4417", why="demo", user=admin)

    with pytest.raises(MaskingChoiceError, match="already"):
        not_secret_add(project=project, value=" Orchid_4417", why="demo", user=admin)
