"""Erase runs for good, from the machine itself."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from agentdesk.keeping import run_empty
from analysis.selectors.keeping import erasure_weight, runs_of_ticket
from analysis.services.keeping import HELD
from transcripts.choices import Removal
from transcripts.keys import run_digest
from transcripts.models import Project, Run
from transcripts.services.erasing import runs_erase
from transcripts.services.removal import HeldError


class Command(BaseCommand):
    help = (
        "Erase a run, or all runs of a ticket, for good; says what that takes and asks first. "
        "What is sent of them again is not kept. Leaves lines in the audit log."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's short name")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--run", help="the sender's run id")
        which.add_argument("--ticket", help="the ticket id, of which all runs are erased")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError("There is no such project.")
        runs = _runs(project, options["run"], options["ticket"])
        weight = erasure_weight(project=project, runs=runs)
        if not weight.runs:
            raise CommandError("There is no such run in this project.")
        self.stdout.write(
            f"{weight.runs} runs with {weight.rounds} rounds, in {weight.incidents} incidents; "
            f"{weight.cases} test cases made of them. {weight.held} on legal hold."
        )
        said = options["run"] or options["ticket"]
        if not options["yes"] and input(f"Type {said} to erase them: ").strip() != said:
            raise CommandError("Nothing was erased.")
        found = list(runs.select_related("project"))
        try:
            erased = runs_erase(runs=found, held=HELD)
        except HeldError as error:
            raise CommandError(f"{error} Nothing was erased.") from None
        for run in found:
            run_empty(run.pk)
        self.stdout.write(f"Erased: {erased}.")


def _runs(project: Project, run_id: str | None, ticket: str | None) -> QuerySet[Run]:
    if ticket is not None:
        return runs_of_ticket(project=project, ticket=ticket)
    digest = run_digest(project.pk, run_id or "")
    runs = Run.objects.filter(project=project, digest=digest)
    return runs.exclude(removal=Removal.RUN).order_by("pk")
