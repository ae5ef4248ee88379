"""Get the database ready for `./desk up`: migrations, static files, first project and account."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.management import BaseCommand, call_command
from django.db import transaction

from transcripts.choices import Role
from transcripts.models import Membership, Project, User

EMAIL = "admin@localhost"
PROJECT = ("helpdesk", "Helpdesk")


class Command(BaseCommand):
    help = "Migrate, collect static files and, in an empty database, make a project and an account."

    def handle(self, **_: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        call_command("collectstatic", verbosity=0, interactive=False)
        if not User.objects.exists():
            password = make_first_account()
            self.stdout.write(f"Sign in as {EMAIL} with the password {password}")
            self.stdout.write("It is shown this once; change it after signing in.")


@transaction.atomic
def make_first_account() -> str:
    """Make the first project with its administrator; returns the administrator's password."""
    password = secrets.token_urlsafe(12)
    user = User.objects.create_user(EMAIL, password, name="Administrator")
    slug, name = PROJECT
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": name})
    Membership.objects.create(project=project, user=user, role=Role.ADMIN, restricted=True)
    return password
