"""Naming a project on the command line."""

from __future__ import annotations

from django.core.management import CommandError
from django.db import OperationalError

from transcripts.models import Project


def project_named(slug: str | None) -> Project:
    """The project of that name; without a name the only one there is. Raises `CommandError`."""
    try:
        projects = list(Project.objects.order_by("slug"))
    except OperationalError:
        raise CommandError("The database does not answer. Start it with ./desk up.") from None
    names = ", ".join(project.slug for project in projects)
    if slug is None and len(projects) == 1:
        return projects[0]
    if slug is None:
        raise CommandError(f"Say which project by --project: {names or 'there is none'}.")
    for project in projects:
        if project.slug == slug:
            return project
    raise CommandError(f"There is no project {slug}. There are: {names or 'none'}.")
