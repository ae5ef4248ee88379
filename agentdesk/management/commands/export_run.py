"""Write a stored run as a file of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from analysis.cases.case import write_case
from analysis.cases.harness import CaseError
from analysis.selectors.cases import case_document
from analysis.services.case_making import case_of_run
from transcripts.access import removed_words
from transcripts.audit import access_record
from transcripts.choices import AccessAction, Removal
from transcripts.export import Exporter, all_exporters
from transcripts.keys import run_digest
from transcripts.models import Project, Run
from transcripts.selectors.record import run_record

# Beside the formats of runs: its test case.
CASE = "case"


class Command(BaseCommand):
    help = (
        "Write a stored run, masked, as a file of another format; leaves a line in the audit log."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = [*(exporter.name for exporter in all_exporters()), CASE]
        parser.add_argument("run", metavar="RUN", help="the sender's run id")
        parser.add_argument("--project", help="the project's short name, where ids repeat")
        parser.add_argument(
            "--as",
            dest="as_",
            default="native",
            help=f"one of {', '.join(names)}; without it, native",
        )
        parser.add_argument("--output", "-o", type=Path, help="the file; without it, the screen")

    def handle(self, **options: Any) -> None:
        exporters = {exporter.name: exporter for exporter in all_exporters()}
        exporter = exporters.get(options["as_"])
        if exporter is None and options["as_"] != CASE:
            raise CommandError(f"--as takes {', '.join(exporters)}, {CASE}.")
        run = _run(options["run"], options["project"])
        if run.text_removed_at is not None:
            raise CommandError(removed_words(run))
        self._write(self._exported(run, exporter) if exporter else self._case(run), options)

    def _exported(self, run: Run, exporter: Exporter) -> str:
        masked = run_record(run=run)
        access_record(
            project=run.project,
            action=AccessAction.EXPORT,
            run=run,
            detail={"as": exporter.name, "by": "command"},
        )
        for lost in exporter.lost(masked.record):
            self.stderr.write(f"Left out: {lost}")
        return exporter.write(masked)

    def _case(self, run: Run) -> str:
        """The run's test case as its file; it is made where there is none."""
        try:
            case, is_new = case_of_run(run=run)
        except CaseError as error:
            raise CommandError(f"{str(error).capitalize()}.") from None
        detail = {"case": case.name, "as": CASE, "by": "command"}
        if is_new:
            made = {"case": case.name, "did": "made", "by": "command"}
            access_record(project=run.project, action=AccessAction.CASE, run=run, detail=made)
        access_record(project=run.project, action=AccessAction.EXPORT, run=run, detail=detail)
        self.stderr.write(f"{case} {'is made' if is_new else 'was there already'}.")
        return write_case(case_document(case))

    def _write(self, text: str, options: dict[str, Any]) -> None:
        if options["output"]:
            options["output"].write_text(text, encoding="utf-8")
        else:
            self.stdout.write(text, ending="")


def _run(run_id: str, slug: str | None) -> Run:
    projects = Project.objects.order_by("slug")
    if slug is not None:
        projects = projects.filter(slug=slug)
    digests = [run_digest(project.pk, run_id) for project in projects]
    runs = Run.objects.exclude(removal=Removal.RUN).filter(digest__in=digests)
    found = list(runs.select_related("project")[:2])
    if not found:
        raise CommandError("There is no such run.")
    if len(found) > 1:
        raise CommandError("Several projects have a run of that id: say --project.")
    return found[0]
