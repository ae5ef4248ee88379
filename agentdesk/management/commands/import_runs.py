"""Import files, as `POST /import` does, and wait for what becomes of each.

Exit status: 0 all is stored, 1 something of a file is in quarantine, 2 a file cannot be read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management import BaseCommand, CommandError, CommandParser

from agentdesk.pipeline import delivery_process
from analysis.report import printable
from transcripts.choices import DeliveryKind, DeliveryState
from transcripts.importers import all_importers
from transcripts.models import Delivery, Project
from transcripts.queueing import RUN_ANALYSE, enqueue
from transcripts.services.deliveries import delivery_accept

STORED, SET_ASIDE, UNREADABLE = 0, 1, 2
PROBLEMS_SHOWN = 5
RUNS_NAMED = 5


class Command(BaseCommand):
    help = "Import files of any known format into a project."

    def add_arguments(self, parser: CommandParser) -> None:
        formats = ["auto", *sorted(importer.name for importer in all_importers())]
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
        parser.add_argument("--project", required=True, help="the project's short name")
        parser.add_argument("--format", default="auto", choices=formats)

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError("There is no such project.", returncode=UNREADABLE)
        status = STORED
        files: list[Path] = options["files"]
        for number, file in enumerate(files, 1):
            self._progress(number, len(files), file)
            status = max(status, self._import(project, file, options["format"]))
        if status:
            sys.exit(status)

    def _import(self, project: Project, file: Path, format: str) -> int:
        try:
            content = file.read_bytes()
        except OSError as error:
            self._tell(f"{file}: {error.strerror}")
            return UNREADABLE
        if not content.strip():
            self._tell(f"{file}: there is no content")
            return UNREADABLE
        delivery, _ = delivery_accept(
            project=project,
            kind=DeliveryKind.FILE,
            content=content,
            format=format,
            file_name=file.name,
        )
        # Here and now: who imports by hand wants to see what came of it, workers or not.
        for run_pk in delivery_process(UUID(str(delivery.pk))):
            enqueue(RUN_ANALYSE, run_pk)
        return self._report(file, Delivery.objects.get(pk=delivery.pk))

    def _report(self, file: Path, delivery: Delivery) -> int:
        outcome = delivery.outcome
        if outcome.get("runs_stored"):
            self._tell(
                f"{file}: {_count(outcome['runs_stored'], 'run')}, {_names(outcome)}; rounds: "
                f"{outcome['rounds_new']} new, {outcome['rounds_folded']} known, "
                f"{outcome['rounds_replaced']} replaced"
            )
        if delivery.state == DeliveryState.STORED:
            return STORED
        problems = outcome.get("problems") or [{"at": delivery.error_at, "error": delivery.error}]
        for problem in problems[:PROBLEMS_SHOWN]:
            at = f"{problem['at']}: " if problem["at"] else ""
            self._tell(f"{file}: {at}{problem['error']}")
        left = outcome.get("problems_found", len(problems)) - PROBLEMS_SHOWN
        if left > 0:
            self._tell(f"{file}: and {left} more")
        self._tell(f"{file}: in quarantine, receipt {delivery.pk}")
        return SET_ASIDE

    def _progress(self, number: int, count: int, file: Path) -> None:
        if sys.stderr.isatty():
            filled = 20 * number // count
            bar = "#" * filled + "." * (20 - filled)
            self.stderr.write(f"\r[{bar}] {number}/{count} {file.name[:40]:40}", ending="")

    def _tell(self, line: str) -> None:
        if sys.stderr.isatty():
            self.stderr.write("\r" + " " * 79 + "\r", ending="")
        self.stdout.write(printable(line))


def _names(outcome: dict[str, Any]) -> str:
    """The first ids; one run may have come in several parts."""
    names = list(dict.fromkeys(told["run_id"] for told in outcome["runs"]))
    left = len(names) > RUNS_NAMED or len(outcome["runs"]) < outcome["runs_stored"]
    return ", ".join(names[:RUNS_NAMED]) + (", …" if left else "")


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
