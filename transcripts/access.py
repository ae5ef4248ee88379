"""Who may do what: the one place that answers, for pages and API alike.

Nobody reads without a membership. What a person may not even know of answers 404; what they may see
but not do answers 403.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.core.exceptions import PermissionDenied

from transcripts.choices import Role
from transcripts.models import Project, Run, User


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
            raise PermissionDenied(f"Your role here ({self.role}) may not {what}.")

    def may_read(self, run: Run) -> bool:
        """Whether this person may read the run's transcript."""
        return self.may(May.READ_TRANSCRIPTS) and (self.restricted or not run.restricted)
