from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from agentdesk.management.commands import first_start
from transcripts.choices import Role
from transcripts.models import Delivery, Membership, Project, User
from transcripts.services.deliveries import delivery_open
from transcripts.services.example_runs import example_runs


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without static files, which have tests of their own."""
    monkeypatch.setattr(first_start, "collect_changed_static", lambda: None)


def start() -> str:
    printed = io.StringIO()
    call_command("first_start", stdout=printed)
    return printed.getvalue()


@pytest.mark.django_db
def test_the_first_start_makes_a_project_and_its_administrator(quick: None) -> None:
    printed = start()

    membership = Membership.objects.get()
    assert membership.role == Role.ADMIN
    assert membership.project.slug == "helpdesk"
    password = printed.split("password ")[1].split()[0]
    assert membership.user.check_password(password)


@pytest.mark.django_db
def test_the_second_start_changes_and_says_nothing(quick: None) -> None:
    start()

    assert start() == ""
    assert (User.objects.count(), Project.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_without_its_examples_no_account_is_made_whose_password_nobody_saw(
    quick: None, settings: Settings, tmp_path: Path
) -> None:
    settings.EXAMPLES = tmp_path
    example_runs.cache_clear()

    with pytest.raises(FileNotFoundError):
        start()

    assert not User.objects.exists()


@pytest.mark.django_db
def test_the_first_start_brings_the_examples(quick: None) -> None:
    start()

    delivery = Delivery.objects.get()
    assert delivery.project.slug == "helpdesk"
    sealed = delivery_open(delivery=delivery)
    assert b'"run_id": "vpn-20931-again"' in sealed.content


def test_static_files_are_collected_when_one_has_changed(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.css").write_text("a {}")
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATIC_ROOT.mkdir()
    calls: list[Any] = []
    monkeypatch.setattr(first_start, "call_command", lambda *a, **k: calls.append(a))

    first_start.collect_changed_static()
    first_start.collect_changed_static()
    assert len(calls) == 1

    (source / "a.css").write_text("a { color: red }")
    first_start.collect_changed_static()
    assert len(calls) == 2


def test_every_static_file_that_is_referred_to_is_there(tmp_path: Path, settings: Settings) -> None:
    """The storage of the product refuses a style sheet that names a file which is not there."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }

    call_command("collectstatic", verbosity=0, interactive=False)

    assert (tmp_path / "staticfiles.json").exists()
