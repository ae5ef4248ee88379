"""Get the database ready for `./desk up`: migrations, static files, first project and account."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import BaseCommand, call_command
from django.db import transaction

from transcripts.choices import Role
from transcripts.models import Membership, Project, User
from transcripts.services.example_runs import examples_send

EMAIL = "admin@localhost"
PROJECT = ("helpdesk", "Helpdesk")


class Command(BaseCommand):
    help = "Migrate, collect static files and, in an empty database, make a project and an account."

    def handle(self, **_: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        collect_changed_static()
        if not User.objects.exists():
            with transaction.atomic():
                project, password = make_first_account()
                examples_send(project=project)
            self.stdout.write(f"Sign in as {EMAIL} with the password {password}")
            self.stdout.write("It is shown this once; change it after signing in.")


def collect_changed_static() -> None:
    """Collect and compress static files, which takes seconds, only when one of them has changed."""
    note = Path(settings.STATIC_ROOT) / "sources.sha256"
    digest = static_sources_digest()
    if note.exists() and note.read_text(encoding="ascii") == digest:
        return
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    note.write_text(digest, encoding="ascii")


def static_sources_digest() -> str:
    """A digest of name, size and time of every static file, wherever it comes from."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def make_first_account() -> tuple[Project, str]:
    """Make the first project with its administrator; returns it and their password."""
    password = secrets.token_urlsafe(12)
    user = User.objects.create_user(EMAIL, password, name="Administrator")
    slug, name = PROJECT
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    Membership.objects.create(project=project, user=user, role=Role.ADMIN, restricted=True)
    return project, password
