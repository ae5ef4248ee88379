"""`manage.py add_member`: the first account of a server, or one for whom nobody can click."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db import transaction

from transcripts.audit import access_record
from transcripts.choices import AccessAction, Role
from transcripts.models import Project
from transcripts.services.members import AlreadyMemberError, member_add


class Command(BaseCommand):
    help = "Make a person a member of a project; makes the project and the account where needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--project", required=True, metavar="NAME", help="letters, digits, -")
        parser.add_argument("--role", default=Role.ADMIN.value, choices=Role.values)

    @transaction.atomic
    def handle(self, *_: Any, email: str, project: str, role: str, **__: Any) -> None:
        target = Project.objects.filter(slug=project).first()
        try:
            validate_email(email)
            if target is None:
                target = Project(slug=project, name=project.capitalize())
                target.full_clean()
                target.save()
            added = member_add(project=target, email=email, role=role)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        except AlreadyMemberError as error:
            raise CommandError(str(error)) from None
        user = added.membership.user
        access_record(
            project=target, action=AccessAction.MEMBER, detail={"email": user.email, "role": role}
        )
        self.stdout.write(f"{user.email} is {role} of {target.slug}.")
        if added.new_account:
            password = secrets.token_urlsafe(12)
            user.set_password(password)
            user.save(update_fields=["password"])
            self.stdout.write(f"The password is {password}; it is shown this once.")
