"""Every address that takes a change, and how it is taken back; or why it is not.

A new address that takes a POST fails `test_the_table_names_every_change` until it has its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.db import models
from django.test import Client, RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from analysis.models import (
    AlertChannel,
    AlertMessage,
    AlertRule,
    Annotation,
    ColumnChoice,
    Incident,
    LimitSet,
    Mention,
    RunTriage,
    SavedView,
    TestCase,
)
from tests.factories import a_member
from tests.kept_rows import made_once
from tests.test_access_matrix import World, signed_in, undone
from transcripts.choices import AccessAction, Ending, Role
from transcripts.maskers import typed_masker
from transcripts.models import (
    AccessEntry,
    ApiKey,
    Change,
    Invitation,
    MaskingChoice,
    MaskRule,
    Membership,
    NotSecret,
    RetentionRule,
    Run,
    RunHold,
)

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Change_:
    """One change by form, of rows of `model`. `meddle` is what somebody else does to them next;
    `lines` prepares. `columns` are compared, all where there are none.
    """

    model: type[models.Model]
    form: dict[str, Any]
    meddle: Callable[[World, Client], object]
    columns: tuple[str, ...] = ()
    arrange: Callable[[World, Client], object] = lambda world, client: None
    named: str = ""


@dataclass(frozen=True)
class SeenIn:
    """Shown to be taken back by a test of its own: file and name."""

    test: str


@dataclass(frozen=True)
class Why:
    """Why there is nothing to take back."""

    reason: str


def shared(model: type[models.Model], **values: Any) -> Callable[[World, Client], object]:
    """Somebody else gives all rows of the project other values."""
    return lambda world, client: model._base_manager.filter(**{"project": world.own}).update(
        **values
    )


def again(form: dict[str, Any], **kept: Any) -> Callable[[World, Client], object]:
    """Somebody else changes it once more by the same page; see `test_it_is_told`."""
    return lambda world, client: client.post(world.last, {**form, **kept})  # type: ignore[attr-defined]


def handed_off(world: World, client: Client) -> None:
    Run.objects.filter(pk=world.run.pk).update(ending=Ending.HANDED_OFF)


def masked(world: World, text: str) -> Any:
    return typed_masker(world.own).text(text)


def labelled(world: World, cause: str) -> None:
    labels = [[masked(world, "cause"), masked(world, cause)], [masked(world, "team"), ""]]
    RunTriage.objects.update_or_create(run=world.run, defaults={"labels": labels})


HOLD = {"action": "hold", "why": "court"}
BADGE = {
    "name": "badge",
    "family": "badge",
    "pattern": r"badge (\d{5})",
    "must": "badge 12345",
    "must_not": "page 12345",
}
DAYS = {
    "rule-TOTAL_FORMS": "1",
    "rule-INITIAL_FORMS": "0",
    "rule-0-label": "",
    "rule-0-text_days": "30",
    "rule-0-metadata_days": "90",
    "action": "save",
}
MAIL = {"add": "channel", "kind": "email", "name": "On call", "address": "oncall@desk.example"}
BY_ALLAUTH = Why("one's own account: a password or a second factor is not brought back by a button")
SENT = Why("sent by programs with a key: sending again replaces it, and runs are deleted by people")
SIGNING = Why("signing in and out")
READS = Why("it takes no change")

TABLE: dict[str, list[Change_] | SeenIn | Why] = {
    "analysis:run_selection": [
        Change_(
            RunTriage,
            {"do": "assign", "owner": "me"},
            lambda world, client: RunTriage.objects.update(owner=world.victim[world.own.pk].user),
            named="assign",
        ),
        Change_(
            RunTriage,
            {"do": "label", "label": "cause=vpn"},
            lambda world, client: labelled(world, "disk"),
            named="label",
        ),
        Change_(
            RunTriage,
            {"do": "label", "label": "cause=vpn"},
            lambda world, client: RunTriage.objects.update(labels=[]),
            arrange=lambda world, client: labelled(world, "disk"),
            named="label in the place of another",
        ),
        Change_(
            RunTriage,
            {"do": "unlabel", "label": "cause=disk"},
            lambda world, client: labelled(world, "vpn"),
            arrange=lambda world, client: labelled(world, "disk"),
            named="unlabel",
        ),
    ],
    "analysis:view_save": [
        Change_(
            SavedView,
            {"name": "Mine", "list": "tab=all"},
            shared(SavedView, query=""),
        ),
    ],
    "analysis:view_change": [
        Change_(
            SavedView,
            {"name": "Other", "shared": "1"},
            again({"name": "Third", "shared": "1"}),
            named="rename",
        ),
        Change_(
            SavedView,
            {"name": "v", "shared": "1", "default_for": "lead"},
            again({"name": "v", "shared": "1", "default_for": ""}),
            arrange=lambda world, client: SavedView.objects.create(
                project=world.own,
                shared=True,
                name=masked(world, "of old"),
                default_for="lead",
            ),
            named="default in the place of another",
        ),
        Change_(
            SavedView,
            {"do": "delete"},
            lambda world, client: SavedView.objects.bulk_create(
                [SavedView(pk=world.views[world.own.pk].pk, project=world.own)]
            ),
            named="delete",
        ),
    ],
    "analysis:list_columns": [
        Change_(
            ColumnChoice,
            {"column": ["rounds"]},
            shared(ColumnChoice, columns=["cost"]),
        ),
    ],
    "analysis:run_annotate": [
        Change_(
            Annotation,
            {"kind": "note", "text": "Look at this."},
            shared(Annotation, edited_at=timezone.now()),
        )
    ],
    "analysis:incident_annotate": [
        Change_(
            Annotation,
            {"kind": "note", "text": "Whose is it?"},
            shared(Annotation, edited_at=timezone.now()),
        )
    ],
    "analysis:call_test": [
        Change_(
            Annotation,
            {"answer": "no permission"},
            shared(Annotation, edited_at=timezone.now()),
        )
    ],
    "analysis:annotation_change": SeenIn(
        "tests/analysis/test_annotations.py::"
        "test_editing_keeps_what_was_said_before_and_is_for_its_author"
    ),
    "analysis:annotation_gone": [
        Change_(
            Annotation,
            {},
            lambda world, client: Annotation.objects.filter(project=world.own).delete(),
        )
    ],
    "analysis:mentions_read": [
        Change_(
            Mention,
            {},
            lambda world, client: Mention.objects.all().delete(),
            ("user_id", "read_at"),
            arrange=lambda world, client: Mention.objects.create(
                annotation=world.annotations[world.own.pk], user=world.admin
            ),
        )
    ],
    "analysis:examples_load": Why(
        "runs that are told to be examples, with a button to remove them"
    ),
    "analysis:examples_gone": Why("a removal of examples, which the same page brings again"),
    "transcripts:send_live": Why("a run that was sent; it is deleted like any other"),
    "analysis:incidents_change": [
        Change_(
            Incident,
            {"number": "1", "action": "resolve"},
            shared(Incident, state="ongoing"),
        )
    ],
    "analysis:incident_change": [
        Change_(Incident, {"action": "take"}, shared(Incident, owner=None)),
    ],
    "analysis:hand_off_change": [
        Change_(
            RunTriage,
            {"action": "take"},
            lambda world, client: RunTriage.objects.update(owner=None),
            columns=("owner_id", "done_at"),
            arrange=handed_off,
        )
    ],
    "analysis:case_make": SeenIn(
        "tests/analysis/case_pages/test_case_make.py::test_making_leaves_lines_and_can_be_undone"
    ),
    "analysis:case_upload": SeenIn(
        "tests/analysis/case_pages/test_case_detail.py::test_a_case_from_a_file_is_taken_back"
    ),
    "analysis:case_edit": SeenIn(
        "tests/analysis/case_pages/test_case_edit.py::test_an_undo_gives_way_to_a_later_change"
    ),
    "analysis:case_return": SeenIn(
        "tests/analysis/case_pages/test_case_edit.py::"
        "test_the_history_has_every_state_and_goes_back"
    ),
    "analysis:case_accept": SeenIn(
        "tests/analysis/case_pages/test_case_detail.py::"
        "test_accepting_can_be_undone_and_needs_a_result_of_the_case"
    ),
    "analysis:case_delete": [
        Change_(
            TestCase,
            {},
            lambda world, client: TestCase.objects.filter(project=world.own).update(recording=""),
        )
    ],
    "analysis:case_resolve": SeenIn(
        "tests/analysis/case_pages/test_case_incidents.py::test_resolving_can_be_undone"
    ),
    "analysis:run_keeping": [
        Change_(RunHold, HOLD, again({**HOLD, "why": "another court"}), ("why", "user_id")),
        Change_(
            RunHold,
            {"action": "release"},
            again(HOLD),
            ("why", "user_id"),
            arrange=lambda world, client: RunHold.objects.create(
                run=world.run, why=masked(world, "an audit")
            ),
            named="release",
        ),
    ],
    "analysis:retention": [
        Change_(
            RetentionRule,
            DAYS,
            again({**DAYS, "rule-0-text_days": "10"}),
            ("label_name", "label_value", "text_days", "metadata_days"),
        )
    ],
    "analysis:ticket_erase": Why("an erasure is for good: the ticket is typed in before"),
    "analysis:limits": [Change_(LimitSet, {"rounds": "9"}, again({"rounds": "11"}))],
    "analysis:limits_file": SeenIn(
        "tests/analysis/test_limits_page.py::test_a_file_that_was_taken_in_is_taken_back"
    ),
    "analysis:masking": [
        Change_(MaskingChoice, {"card": "on", "email": "on"}, again({"phone": "on"})),
    ],
    "analysis:runs_mask_again": Why("a job, which is cancelled; what is masked stays masked"),
    "analysis:mask_rule": [
        Change_(MaskRule, BADGE, shared(MaskRule, family="other")),
    ],
    "analysis:mask_rule_delete": [
        Change_(
            MaskRule,
            {},
            lambda world, client: MaskRule.objects.create(
                project=world.own, name="site", family="site"
            ),
        )
    ],
    "analysis:not_secret_list": [
        Change_(
            NotSecret,
            {"value": "orchid-4417", "why": "the demo's"},
            lambda world, client: NotSecret.objects.filter(shown="typed").delete(),
        )
    ],
    "analysis:not_secret_delete": [
        Change_(
            NotSecret,
            {},
            lambda world, client: NotSecret.objects.create(
                project=world.own, digest=b"d", shown="typed"
            ),
        )
    ],
    "analysis:alerts": [
        Change_(
            AlertChannel, MAIL, shared(AlertChannel, removed_at=timezone.now()), named="channel"
        ),
        Change_(
            AlertRule,
            {"add": "rule", "kind": "run_flagged"},
            shared(AlertRule, removed_at=timezone.now()),
            named="rule",
        ),
    ],
    "analysis:alert_channel_change": [
        Change_(AlertChannel, {"action": "off"}, shared(AlertChannel, active=True), named="off"),
        Change_(
            AlertChannel, {"action": "remove"}, shared(AlertChannel, active=True), named="remove"
        ),
    ],
    "analysis:alert_rule_remove": [
        Change_(
            AlertRule,
            {},
            lambda world, client: AlertRule.everything.exclude(removed_at=None).delete(),
        ),
    ],
    "analysis:alert_message_change": [
        Change_(AlertMessage, {"action": "discard"}, shared(AlertMessage, state="sent"), ("state",))
    ],
    "analysis:runs_read_again": Why(
        "a job, which is cancelled; what was read is as it is read now"
    ),
    "analysis:job_stop": Why("what a cancelled job has left is done by starting it again"),
    "analysis:run_job_stop": Why("what a cancelled job has left is done by starting it again"),
    "transcripts:send_key": Why("the key is shown this once; Revoke ends it"),
    "transcripts:send_test": Why("a run that was sent; it is deleted like any other"),
    "transcripts:upload": Why("files that wait to be confirmed: Discard is beside each"),
    "transcripts:upload_store": Why(
        "a worker stores them at once; runs are deleted like any others"
    ),
    "transcripts:upload_discard": Why("an erasure: their content is not kept a moment longer"),
    "transcripts:member_list": SeenIn(
        "tests/transcripts/views/test_members.py::test_who_was_added_is_taken_out_again"
    ),
    "transcripts:member_change": [
        Change_(
            Membership,
            {"role": "engineer", "restricted": "on"},
            again({"role": "observer"}),
        )
    ],
    "transcripts:member_remove": [
        Change_(
            Membership,
            {},
            lambda world, client: Membership.objects.create(
                project=world.own, user=world.victim[world.own.pk].user, role=Role.OBSERVER
            ),
        )
    ],
    "transcripts:member_password": Why("a link that is shown this once"),
    "transcripts:member_factor": Why("an erasure: the secret of a second factor is not kept"),
    "transcripts:second_factor": SeenIn(
        "tests/transcripts/views/test_members.py::test_requiring_a_factor_is_taken_back"
    ),
    "transcripts:invitation_again": Why("a new link, mailed or shown this once; Withdraw ends it"),
    "transcripts:invitation_withdraw": [
        Change_(
            Invitation,
            {},
            lambda world, client: client.post(
                reverse("transcripts:member_list", args=[world.own.slug]),
                {"email": "guest@desk.example", "role": "lead"},
            ),
        )
    ],
    "transcripts:key_list": Why("the key is shown this once; Revoke ends it"),
    "transcripts:key_rotate": Why("the new key is shown this once; Revoke ends it"),
    "transcripts:key_revoke": [
        Change_(ApiKey, {}, shared(ApiKey, revoked_at=timezone.now())),
    ],
    "transcripts:deliveries_decide": Why("tried again by a worker at once; discarding erases"),
    "transcripts:delivery_retry": Why("a worker tries it at once; what fails is set aside again"),
    "transcripts:delivery_discard": Why("an erasure: its content is not kept a moment longer"),
    "transcripts:change_back": Why("it is the undoing; what was done is done again where it was"),
    "theme": Why("light or dark for this browser, by the same three buttons"),
    "account_login": SIGNING,
    "mfa_authenticate": SIGNING,
    "account_reauthenticate": SIGNING,
    "mfa_reauthenticate": SIGNING,
    "account_logout": SIGNING,
    "usersessions_list": Why("sessions end, for whom has stolen one"),
    "invitation_accept": Why("an account is made, by who is invited"),
    "account_reset_password": Why("a mail is sent"),
    "account_reset_password_from_key": BY_ALLAUTH,
    "account": Why("one's own name, in the one field that shows it"),
    "address_change": Why("a mail is sent; nothing changes before its link is opened"),
    "address_confirm": Why("the link of that mail, which works once; one asks for another address"),
    "session_end": Why("a session that is ended is over: one signs in again"),
    "mfa_index": Why("the same page as `account`"),
    "account_change_password": BY_ALLAUTH,
    "account_set_password": BY_ALLAUTH,
    "mfa_activate_totp": BY_ALLAUTH,
    "mfa_deactivate_totp": BY_ALLAUTH,
    "mfa_view_recovery_codes": READS,
    "mfa_generate_recovery_codes": BY_ALLAUTH,
    "spans_send": SENT,
    "api:runs_send": SENT,
    "api:runs_list": SENT,
    "api:rounds_send": SENT,
    "api:rounds_read": SENT,
    "api:run_end": SENT,
    "api:file_send": SENT,
    "api:run_case": SENT,
    "api:cases_list": SENT,
    "api:case_send": SENT,
    "api:result_send": SENT,
    "api:openapi-json": READS,
    "api:openapi-view": READS,
    "api:api-root": READS,
}
TRIED = [
    pytest.param(name, change, id=f"{name} {change.named}".strip())
    for name, entry in TABLE.items()
    if isinstance(entry, list)
    for change in entry
]


def all_patterns() -> Iterator[tuple[str, str, URLPattern]]:
    """Each address with its name, "" for one without."""

    def below(patterns: Any, before: str, spaces: tuple[str, ...]) -> Any:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                inner = (*spaces, pattern.namespace) if pattern.namespace else spaces
                yield from below(pattern.url_patterns, route, inner)
            else:
                yield route, ":".join((*spaces, pattern.name or "")), pattern

    return below(get_resolver().url_patterns, "", ())  # type: ignore[no-any-return]


def takes_changes(pattern: URLPattern) -> bool:
    """Asks with a method that there is not; who answers anything but which there are may change."""
    request = RequestFactory().generic("PURGE", "/")
    request.user, request.session = AnonymousUser(), SessionStore()
    try:
        answer = pattern.callback(request, **dict.fromkeys(pattern.pattern.converters, "1"))
    except Exception:
        return True
    allowed = {each.strip() for each in answer.headers.get("Allow", "").split(",")} - {""}
    return answer.status_code != 405 or not allowed <= {"GET", "HEAD", "OPTIONS"}


def test_the_table_names_every_change() -> None:
    changing = {name for _, name, pattern in all_patterns() if takes_changes(pattern)}

    # Two addresses without a name: the second one of spans, and what answers that there is nothing.
    assert {name for name in changing if not name.endswith(":") and name} == TABLE.keys()


@pytest.mark.parametrize(
    "seen", [entry.test for entry in TABLE.values() if isinstance(entry, SeenIn)]
)
def test_what_is_seen_elsewhere_is_there(seen: str) -> None:
    path, _, name = seen.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    body = re.search(rf"^def {name}\(.*?(?=^def |\Z)", text, re.M | re.S)

    assert body is not None
    assert re.search(r"change_back|taken_back\(|undo\(", body[0])


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    yield from made_once(django_db_blocker, World)


def rows(change: Change_, *, gone: bool = False) -> list[dict[str, Any]]:
    """The rows without what says when they were changed; `gone`: removed ones too."""
    columns = change.columns or tuple(
        each.attname
        for each in change.model._meta.concrete_fields
        if each.name not in ("changed_at", "updated_at")
    )
    found = change.model._base_manager.all()
    for column in {"removed_at", "deleted_at"} & {each.name for each in change.model._meta.fields}:
        if not gone:
            found = found.filter(**{column: None})
    if change.model is RunTriage:
        # A row that says nothing is as good as none.
        found = found.exclude(owner=None, labels=[], done_at=None)
    return list(found.order_by("pk").values(*columns))


def pressed(client: Client, world: World) -> str:
    """Press Undo; what the page says then."""
    change = Change.objects.latest("pk")
    address = reverse("transcripts:change_back", args=[world.own.slug, change.pk])
    there = reverse("analysis:run_list", args=[world.own.slug])
    return client.post(address, {"next": there}, follow=True).content.decode()


def address_of(name: str, world: World) -> str:
    from tests.test_access_matrix import Needs, Open

    route = next(route for route, told, _ in all_patterns() if told == name)
    return world.address(route, Needs(Open.TO_ALL), world.run).rstrip("?")


def form_of(change: Change_, world: World) -> dict[str, Any]:
    form = dict(change.form)
    if "do" in form:
        form |= {"run": [world.run.pk], "list": "tab=all"}
    if form.get("add") == "rule":
        form["channel"] = world.alerts[world.own.pk].channel_id
    return form


def done(world: World, name: str, change: Change_) -> tuple[Client, str, Any]:
    """Make the change as an administrator; returns the page that says so, and what was before."""
    world.admin = a_member(world.own, Role.ADMIN, restricted=True)  # type: ignore[attr-defined]
    client = signed_in(world.admin)  # type: ignore[attr-defined]
    change.arrange(world, client)
    before = rows(change)
    world.last = address_of(name, world)  # type: ignore[attr-defined]
    answer = client.post(world.last, form_of(change, world), follow=True)  # type: ignore[attr-defined]
    assert rows(change) != before
    return client, answer.content.decode(), before


@pytest.mark.parametrize(("name", "change"), TRIED)
def test_it_is_taken_back(world: World, name: str, change: Change_) -> None:
    with undone():
        client, page, before = done(world, name, change)
        button = reverse(
            "transcripts:change_back", args=[world.own.slug, Change.objects.latest("pk").pk]
        )
        said = pressed(client, world)
        after = rows(change)
        lines = AccessEntry.objects.filter(action=AccessAction.UNDO).count()

    assert f'action="{button}"' in page
    assert after == before
    assert 'class="message success"' in said
    assert lines == 1


@pytest.mark.parametrize(("name", "change"), TRIED)
def test_it_is_told_where_somebody_has_gone_on(world: World, name: str, change: Change_) -> None:
    with undone():
        client, _, _ = done(world, name, change)
        left = rows(change, gone=True)
        first = Change.objects.latest("pk").pk
        change.meddle(world, signed_in(a_member(world.own, Role.ADMIN, restricted=True)))
        # Somebody else's change has its own button; this person presses theirs.
        Change.objects.filter(pk__gt=first).delete()
        client.get(reverse("analysis:run_list", args=[world.own.slug]))
        now = rows(change, gone=True)
        said = pressed(client, world)
        after = rows(change, gone=True)

    assert after == now
    assert 'class="message error"' in said
    assert 'class="message success"' not in said
    assert now != left


@pytest.mark.parametrize("name", [name for name, entry in TABLE.items() if isinstance(entry, list)])
def test_who_may_not_change_it_any_more_may_not_take_it_back(world: World, name: str) -> None:
    entry = TABLE[name]
    assert isinstance(entry, list)
    with undone():
        client, _, _ = done(world, name, entry[0])
        change = Change.objects.latest("pk")
        Membership.objects.filter(project=world.own, user=change.user).update(role=Role.OBSERVER)
        now = rows(entry[0])
        address = reverse("transcripts:change_back", args=[world.own.slug, change.pk])
        answer = client.post(address)
        after = rows(entry[0])

    own = name in ("analysis:view_save", "analysis:list_columns")
    assert answer.status_code == (302 if own else 403)
    assert (after == now) != own
