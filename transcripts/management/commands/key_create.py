"""Make an API key of a project and print it, this once."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from transcripts.choices import KeyScope
from transcripts.models import Project
from transcripts.services.api_keys import key_create


class Command(BaseCommand):
    help = "Make an API key of a project and print it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's short name")
        parser.add_argument("--name", default="command line", help="what the key is for")
        parser.add_argument(
            "--scope",
            action="append",
            choices=KeyScope.values,
            help="what it may do; may be given more than once (default: ingest and read)",
        )

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True))
            raise CommandError(f"There is no such project. There are: {known or 'none'}.")
        scopes = options["scope"] or [KeyScope.INGEST, KeyScope.READ]
        _, text = key_create(project=project, name=options["name"], scopes=scopes)
        self.stdout.write(text)
