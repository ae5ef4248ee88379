"""`manage.py change_address`: for an Agentdesk that sends no mail, or an address that is gone."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db import transaction

from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.models import User
from transcripts.services.members import AddressTakenError, person_readdress


class Command(BaseCommand):
    help = "Change the e-mail address that a person signs in with."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("old")
        parser.add_argument("new")

    @transaction.atomic
    def handle(self, *_: Any, old: str, new: str, **__: Any) -> None:
        user = User.objects.filter(email__iexact=old).first()
        if user is None:
            raise CommandError("There is no such account.")
        before = user.email
        try:
            validate_email(new)
            person_readdress(user=user, email=new)
        except ValidationError:
            raise CommandError(f"{new} is no e-mail address.") from None
        except AddressTakenError as error:
            raise CommandError(str(error)) from None
        access_record(
            project=None,
            action=AccessAction.ADDRESS,
            user=user,
            who="on the server",
            detail={"before": before, "after": user.email},
        )
        self.stdout.write(f"{before} signs in with {user.email} now.")
