"""Import files, as `POST /import` does, and wait for what becomes of each.

Exit status: 0 all is stored, 1 a part of a file is not (it is in quarantine, or was told with its
place), 2 a file cannot be read at all, 130 it was interrupted. Importing a file again changes
nothing that is there, so what was interrupted is just started again.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from agentdesk.addresses import site_address
from agentdesk.importing import NAMES_KEPT, FileReport, file_import
from agentdesk.progress import Progress
from analysis.report import printable
from transcripts.importers import all_importers
from transcripts.models import Project

STORED, IN_PART, UNREADABLE, INTERRUPTED = 0, 1, 2, 130
STDIN = "-"
PROBLEMS_SHOWN = 5
EXIT_STATUS = (
    "Exit status: 0 all is stored; 1 a part of a file is not, and was told with its place; "
    "2 a file cannot be read; 130 interrupted. Importing the same file again changes nothing, so "
    "an import that was interrupted is just started again."
)


class Command(BaseCommand):
    help = (
        "Import files of any known format into a project; - reads standard input. Plain, or packed "
        f"with gzip, zstd or zip. {EXIT_STATUS}"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        formats = ["auto", *sorted(importer.name for importer in all_importers())]
        parser.add_argument("files", metavar="FILE", nargs="+")
        parser.add_argument("--project", required=True, help="the project's short name")
        parser.add_argument("--format", default="auto", choices=formats, metavar="NAME")

    def handle(self, **options: Any) -> None:
        project = _project(options["project"])
        reports: list[FileReport] = []
        try:
            for name in options["files"]:
                reports.append(self._import(project, name, options["format"]))
        except KeyboardInterrupt:
            self._tell("Interrupted. What is stored is stored; start it again to go on.")
            sys.exit(INTERRUPTED)
        self._sum_up(project, reports)
        status = max(map(_status, reports), default=STORED)
        if status:
            sys.exit(status)

    def _import(self, project: Project, name: str, format: str) -> FileReport:
        try:
            with _opened(name) as file:
                size = None if name == STDIN else Path(name).stat().st_size
                shown = "stdin" if name == STDIN else Path(name).name
                with Progress(file, shown, size, sys.stderr) as progress:
                    report = file_import(
                        project=project, file=file, name=shown, format=format, seen=progress.seen
                    )
        except OSError as error:
            report = _unreadable(name, error.strerror or type(error).__name__)
        report.file = name
        return self._told(report)

    def _told(self, report: FileReport) -> FileReport:
        if report.runs:
            named = ", ".join(report.names[: NAMES_KEPT - 1])
            more = ", …" if report.runs >= NAMES_KEPT else ""
            self._tell(
                f"{report.file}: {_count(report.runs, 'run')}, {named}{more}; {_rounds(report)}"
            )
        if report.gone:
            gone = _count(report.gone, "run")
            self._tell(f"{report.file}: {gone} not kept: erased before, or its transcript removed")
        for at, error in report.problems[:PROBLEMS_SHOWN]:
            self._tell(f"{report.file}: {f'{at}: ' if at else ''}{error}")
        left = report.problems_found - PROBLEMS_SHOWN
        if left > 0:
            self._tell(f"{report.file}: and {left:,} more")
        for receipt in report.quarantined:
            self._tell(f"{report.file}: in quarantine, receipt {receipt}")
        return report

    def _sum_up(self, project: Project, reports: list[FileReport]) -> None:
        total = FileReport("")
        for report in reports:
            total.runs += report.runs
            total.new += report.new
            total.repeated += report.repeated
            total.replaced += report.replaced
            total.problems_found += report.problems_found
        self._tell("")
        files = _count(len(reports), "file")
        self._tell(f"{files}: {_count(total.runs, 'run')}, {_rounds(total)}")
        if total.problems_found:
            where = [report.file for report in reports if report.problems_found]
            named = ", ".join(where[:PROBLEMS_SHOWN]) + (", …" if where[PROBLEMS_SHOWN:] else "")
            self._tell(f"{_count(total.problems_found, 'place')} could not be read, in {named}")
        if total.runs:
            self._tell(
                f"{site_address()}{reverse('analysis:run_list', args=[project.slug])}?tab=all"
            )

    def _tell(self, line: str) -> None:
        self.stdout.write(printable(line))


def _project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True))
        raise CommandError(
            f"There is no such project. There are: {known or 'none'}.", returncode=UNREADABLE
        )
    return project


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    if name == STDIN:
        return nullcontext(sys.stdin.buffer)
    return Path(name).open("rb")


def _unreadable(name: str, why: str) -> FileReport:
    report = FileReport(name, unreadable=True)
    report.problem("", why)
    return report


def _status(report: FileReport) -> int:
    if report.unreadable:
        return UNREADABLE
    return IN_PART if report.problems_found or report.quarantined else STORED


def _rounds(report: FileReport) -> str:
    replaced = f", {report.replaced:,} replaced" if report.replaced else ""
    return (
        f"{_count(report.rounds, 'round')}: {report.new:,} new, "
        f"{report.repeated:,} repeated{replaced}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
