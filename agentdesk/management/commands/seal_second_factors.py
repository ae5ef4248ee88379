"""`manage.py seal_second_factors`: after a new master key was put in front."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError

from transcripts.sealing import SealError
from transcripts.services.second_factors import second_factors_reseal


class Command(BaseCommand):
    help = "Seal the secrets of second factors with the first of AGENTDESK_MASTER_KEYS."

    def handle(self, **_: Any) -> None:
        try:
            count = second_factors_reseal()
        except SealError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count} sealed with the first key.")
