"""Runs that were handed off to people, and have not been dealt with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db.models import Q, QuerySet

from transcripts.choices import Ending, Removal
from transcripts.endings import hands_off
from transcripts.key_sets import KeySetPage, key_set_page
from transcripts.models import Project, Run, ToolCall, User

ROWS_PER_PAGE = 25
# The call that hands off stands in one of the last rounds.
LAST_ROUNDS = 3
TABS = {"waiting": "Waiting", "mine": "Mine", "done": "Done"}
# Short names that people write in capitals.
CAPITALS = frozenset({"hr", "it", "qa", "soc"})
_TO = re.compile(r"(?:^|[_\s-])to[_\s-]+(.+)$", re.IGNORECASE)


def hand_offs(*, project: Project, tab: str, user: User) -> QuerySet[Run]:
    """Handed-off runs of a tab, in no order."""
    runs = Run.objects.filter(project=project, ending=Ending.HANDED_OFF)
    if tab == "done":
        return runs.filter(triage__done_at__isnull=False)
    waiting = runs.filter(triage__done_at__isnull=True)
    return waiting.filter(triage__owner=user) if tab == "mine" else waiting


def hand_off_page(
    *, project: Project, tab: str, user: User, before: str = "", after: str = ""
) -> KeySetPage[Run]:
    """One page, the latest first. One query. A bad cursor is passed over."""
    runs = hand_offs(project=project, tab=tab, user=user)
    runs = runs.select_related("verdict", "triage__owner", "triage__done_by")
    return key_set_page(runs, by="received_at", before=before, after=after, limit=ROWS_PER_PAGE)


def waiting_runs(*, project: Project) -> QuerySet[Run]:
    """The runs that wait, to be counted."""
    waiting = Run.objects.filter(
        project=project, ending=Ending.HANDED_OFF, triage__done_at__isnull=True
    )
    return waiting.exclude(removal=Removal.RUN).order_by("-received_at", "-pk").only("pk")


def handed_to(runs: Sequence[Run]) -> dict[int, str]:
    """For whom runs were, by the name of the call that handed them over: "IT team" of
    `escalate_to_it_team`, else the call's name. One query.
    """
    near = Q(pk__in=())
    for run in runs:
        near |= Q(run=run.pk, round_number__gt=run.last_round - LAST_ROUNDS)
    calls = ToolCall.objects.filter(near).order_by("run", "round_number", "index")
    found: dict[int, str] = {}
    for pk, name in calls.values_list("run_id", "name"):
        if hands_off(name):
            said = _TO.search(name)
            found[pk] = _team(said[1]) if said else name
    return found


def _team(words: str) -> str:
    parts = words.replace("_", " ").replace("-", " ").split()
    return " ".join(part.upper() if part.casefold() in CAPITALS else part for part in parts)
