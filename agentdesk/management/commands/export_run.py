"""`./desk export`: write a run in a format of choice. It leaves a line in the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from agentdesk.management.projects import project_named
from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.export import all_exporters
from transcripts.models import Run
from transcripts.selectors.record import run_record


class Command(BaseCommand):
    help = "Write a run, as it is stored and so masked, to standard output or a file."

    def add_arguments(self, parser: CommandParser) -> None:
        formats = [exporter.name for exporter in all_exporters()]
        parser.add_argument("run", metavar="RUN", help="the run's id")
        parser.add_argument("--as", dest="format", choices=formats, default=formats[0])
        parser.add_argument(
            "--project", metavar="NAME", help="may be left out if there is only one"
        )
        parser.add_argument("--output", type=Path, metavar="FILE", help="must not be there yet")

    def handle(self, *_: Any, run: str, format: str, **options: Any) -> None:
        project = project_named(options["project"])
        found = Run.objects.filter(project=project, run_id=run).first()
        if found is None:
            raise CommandError(f"There is no run {run} in the project {project.slug}.")
        exporter = next(e for e in all_exporters() if e.name == format)
        masked = run_record(run=found)
        access_record(
            project=project, action=AccessAction.EXPORT, run=found, detail={"format": format}
        )
        text = exporter.write(masked)
        output: Path | None = options["output"]
        if output is None:
            self.stdout.write(text)
        else:
            try:
                with output.open("x", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                raise CommandError(f"{output} cannot be written: {error.strerror}.") from None
        for lost in exporter.lost(masked.record):
            self.stderr.write(f"left out: {lost}")
