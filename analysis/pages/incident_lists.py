"""The list of incidents, for pages and API alike: its filters, and its pages by key set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from analysis.models import Fingerprint, Incident, IncidentState, Priority
from analysis.services.incident_states import OPEN_STATES
from transcripts.key_sets import key_set_page
from transcripts.models import Project, User

ROWS_PER_PAGE = 25
TABS = {"open": "Open", "mine": "Mine", "resolved": "Resolved", "ignored": "Ignored", "all": "All"}
STATES_OF = {
    "open": OPEN_STATES,
    "mine": OPEN_STATES,
    "resolved": (IncidentState.RESOLVED,),
    "ignored": (IncidentState.IGNORED,),
}
MOST_OPTIONS = 200


@dataclass(frozen=True)
class IncidentFilter:
    """What a list of incidents shows; all of it stands in the address.

    `owner` is a person's id, or "none"; `q` is a short id or words of the title or the error.
    """

    tab: str = "open"
    q: str = ""
    state: str = ""
    owner: str = ""
    priority: str = ""
    agent: str = ""
    detector: str = ""
    tool: str = ""

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> IncidentFilter:
        """From a query string; what is unknown counts as not said."""
        said = {
            item.name: str(query.get(item.name) or "").replace("\x00", "").strip()[:300]
            for item in fields(cls)
        }
        if said["tab"] not in TABS:
            said["tab"] = "open"
        if said["state"] not in IncidentState.values:
            said["state"] = ""
        if said["priority"] not in [str(value) for value in Priority.values]:
            said["priority"] = ""
        if said["owner"] != "none" and not _is_number(said["owner"]):
            said["owner"] = ""
        return cls(**said)

    @classmethod
    def of_text(cls, text: str) -> IncidentFilter:
        """From what `text` wrote."""
        return cls.of(QueryDict(text))

    @property
    def narrowing(self) -> dict[str, str]:
        """The filters that are set, without the tab."""
        pairs = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in pairs.items() if value and name != "tab"}

    @property
    def text(self) -> str:
        """As a query string, without what is default."""
        tab = {} if self.tab == "open" else {"tab": self.tab}
        return urlencode({**tab, **self.narrowing})

    def on(self, tab: str) -> IncidentFilter:
        return replace(self, tab=tab)


@dataclass(frozen=True)
class IncidentPage:
    """One page, seen last first; `older` and `newer` are the query strings of those beside it.
    `cursor` goes on after the last one.
    """

    incidents: list[Incident] = field(default_factory=list)
    older: str = ""
    newer: str = ""
    cursor: str | None = None


def incidents_matching(
    *, project: Project, wanted: IncidentFilter, user: User | None, cites: bool
) -> QuerySet[Incident]:
    """All incidents that match, in no order. `cites`: whoever looks may read what tools said; else
    a search does not look at it, since what it finds would tell.
    """
    incidents = Incident.objects.filter(project=project, merged_into=None)
    if wanted.tab in STATES_OF:
        incidents = incidents.filter(state__in=STATES_OF[wanted.tab])
    if wanted.tab == "mine":
        incidents = incidents.filter(owner=user)
    if wanted.state:
        incidents = incidents.filter(state=wanted.state)
    if wanted.owner:
        owner = None if wanted.owner == "none" else int(wanted.owner)
        incidents = incidents.filter(owner=owner)
    if wanted.priority:
        incidents = incidents.filter(priority=int(wanted.priority))
    said = {name: getattr(wanted, name) for name in ("agent", "detector", "tool")}
    if any(said.values()):
        prints = Fingerprint.objects.filter(incident=OuterRef("pk"))
        prints = prints.filter(**{name: value for name, value in said.items() if value})
        incidents = incidents.filter(Exists(prints))
    return incidents.filter(_named(wanted.q, cites)) if wanted.q else incidents


def incident_number(words: str) -> int | None:
    """The number that "INC-14", "inc 14" or "14" names."""
    number = words.strip().upper().removeprefix("INC").lstrip("- ")
    return int(number) if _is_number(number) else None


def _named(words: str, cites: bool) -> Q:
    number = incident_number(words)
    if number is not None:
        return Q(number=number)
    prints = Fingerprint.objects.filter(incident=OuterRef("pk"))
    of_print = Q(tool__icontains=words) | Q(agent__icontains=words)
    if cites:
        cited = prints.filter(of_print | Q(error__icontains=words))
        return Q(title__icontains=words) | Q(Exists(cited))
    return Q(Exists(prints.filter(of_print)))


def incident_page(
    *,
    project: Project,
    wanted: IncidentFilter,
    user: User | None,
    cites: bool,
    before: str = "",
    after: str = "",
    limit: int = ROWS_PER_PAGE,
) -> IncidentPage:
    """One page. One query. A bad cursor is passed over."""
    matching = incidents_matching(project=project, wanted=wanted, user=user, cites=cites)
    matching = matching.select_related("owner")
    page = key_set_page(matching, by="last_seen_at", before=before, after=after, limit=limit)
    return IncidentPage(
        page.rows,
        older=_paged(wanted, "before", page.older),
        newer=_paged(wanted, "after", page.newer),
        cursor=page.older or None,
    )


def incident_counts(
    *, project: Project, wanted: IncidentFilter, user: User, cites: bool
) -> dict[str, int]:
    """How many incidents each tab would show. One query a tab."""
    return {
        tab: incidents_matching(
            project=project, wanted=wanted.on(tab), user=user, cites=cites
        ).count()
        for tab in TABS
    }


def filter_options(*, project: Project) -> dict[str, list[str]]:
    """The agents, detectors and tools that incidents of the project have."""
    found: dict[str, list[str]] = {}
    for name in ("agent", "detector", "tool"):
        values = Fingerprint.objects.filter(project=project).exclude(**{name: ""}).order_by(name)
        found[name] = list(values.values_list(name, flat=True).distinct()[:MOST_OPTIONS])
    return found


def _is_number(text: str, length: int = 9) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= length


def _paged(wanted: IncidentFilter, name: str, cursor: str) -> str:
    """The query string of the page at a cursor; empty where there is none."""
    return "&".join(filter(None, [wanted.text, urlencode({name: cursor})])) if cursor else ""
