"""Who may do what: the one place that answers, for pages and API alike.

Nobody reads without a membership. What a person may not even know of answers 404; what they may
see but not do answers 403.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.core.exceptions import PermissionDenied
from django.http import Http404

from transcripts.choices import Removal, Role
from transcripts.models import Membership, Project, Run, User


class May(StrEnum):
    """What a role may do."""

    SEE_RUNS = "see runs"
    READ_TRANSCRIPTS = "read transcripts"
    TRIAGE = "triage"
    ENGINEER = "engineer"
    ADMINISTER = "administer"


_OBSERVER = frozenset({May.SEE_RUNS})
_LEAD = _OBSERVER | {May.READ_TRANSCRIPTS, May.TRIAGE}
_ENGINEER = _LEAD | {May.ENGINEER}

ROLE_MAY: dict[str, frozenset[May]] = {
    Role.OBSERVER: _OBSERVER,
    Role.LEAD: _LEAD,
    Role.ENGINEER: _ENGINEER,
    Role.ADMIN: _ENGINEER | {May.ADMINISTER},
}


WHO_MAY = {
    May.SEE_RUNS: "a member of the project",
    May.READ_TRANSCRIPTS: "a lead, an engineer or an administrator",
    May.TRIAGE: "a lead, an engineer or an administrator",
    May.ENGINEER: "an engineer or an administrator",
    May.ADMINISTER: "an administrator",
}


@dataclass(frozen=True)
class Reader:
    """A signed-in person in one project."""

    project: Project
    user: User
    role: str
    restricted: bool

    def may(self, what: May) -> bool:
        return what in ROLE_MAY[self.role]

    def require(self, what: May) -> None:
        """Raise `PermissionDenied` (403) unless the role allows it."""
        if not self.may(what):
            own = Role(self.role).label.lower()
            raise PermissionDenied(f"This needs {WHO_MAY[what]}. Your role here is {own}.")

    def may_read(self, run: Run) -> bool:
        """Whether this person may read the run's transcript, which is still there."""
        return (
            self.may(May.READ_TRANSCRIPTS)
            and (self.restricted or not run.restricted)
            and run.text_removed_at is None
        )

    def require_read(self, run: Run) -> None:
        """Raise `PermissionDenied` (403) unless this person may read the run's transcript, and
        `TranscriptRemovedError` (410) where it is no longer there.

        No secret is given away by it: every member sees the run in the list, with its verdict.
        """
        self.require(May.READ_TRANSCRIPTS)
        if run.restricted and not self.restricted:
            raise PermissionDenied("This run is restricted to readers who are named for it.")
        require_transcript(run)


class TranscriptRemovedError(Exception):
    """A run's transcript was removed; the message says when and by what."""


def require_transcript(run: Run) -> None:
    """Raise `TranscriptRemovedError` where a run's transcript was removed."""
    if run.text_removed_at is not None:
        raise TranscriptRemovedError(removed_words(run))


def removed_words(run: Run) -> str:
    """When and by what a run's transcript was removed; empty where it is there."""
    if run.text_removed_at is None:
        return ""
    day = f"{run.text_removed_at.day} {run.text_removed_at:%B %Y}"
    return f"Its transcript was removed on {day} by {run.text_removed_by}."


def memberships_of(user: User) -> list[Membership]:
    """The person's memberships with their projects, by name; none for who was switched off."""
    if not (user.is_authenticated and user.is_active):
        return []
    found = Membership.objects.filter(user=user).select_related("project")
    return list(found.order_by("project__name", "project__slug"))


def reader_for(user: User, slug: str, memberships: Sequence[Membership] | None = None) -> Reader:
    """The person as a reader of the project; 404 without a membership, whether it exists or not."""
    for membership in memberships_of(user) if memberships is None else memberships:
        if membership.project.slug == slug:
            return Reader(membership.project, user, membership.role, membership.restricted)
    raise Http404("No such project, or you are not a member of it.")


def run_for(project: Project, pk: int, *related: str) -> Run:
    """A run of the project, with what hangs on it one to one; 404 for any other."""
    try:
        runs = Run.objects.exclude(removal=Removal.RUN).select_related(*related)
        return runs.get(project=project, pk=pk)
    except Run.DoesNotExist:
        raise Http404("No such run in this project.") from None
