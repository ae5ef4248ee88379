"""`manage.py reset_second_factor`: for who lost telephone and recovery codes."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import transaction

from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.models import User
from transcripts.services.second_factors import second_factor_reset


class Command(BaseCommand):
    help = "Take a person's second factor and recovery codes away, and end their sessions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    @transaction.atomic
    def handle(self, *_: Any, email: str, **__: Any) -> None:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError("There is no such account.")
        second_factor_reset(user=user)
        access_record(
            project=None,
            action=AccessAction.FACTOR,
            user=user,
            who="on the server",
            detail={"reset for": user.email},
        )
        self.stdout.write(f"{user.email} signs in without a second factor now.")
