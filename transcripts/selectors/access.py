"""The audit log: who read or changed what."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import BooleanField, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.http import urlencode

from transcripts.choices import AccessAction
from transcripts.models import AccessEntry, Membership, Project

# Lines that are fetched at once when all of them are written out.
LINES_AT_ONCE = 2_000
LONGEST = 300


@dataclass(frozen=True, slots=True)
class AccessFilter:
    """Which lines are shown; all of it stands in the address. Empty strings filter nothing.

    `who` is a part of a person's address or a key's name, `what` the beginning of a run's id,
    `run` a run's own number, `since` and `until` are days (UTC, both included), `address` is where
    it was done from, an address or a network.
    """

    who: str = ""
    action: str = ""
    what: str = ""
    run: str = ""
    since: str = ""
    until: str = ""
    address: str = ""

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> AccessFilter:
        """From a query string; what cannot be meant counts as not said."""
        said = {
            item.name: str(query.get(item.name) or "").replace("\x00", "").strip()[:LONGEST]
            for item in fields(cls)
        }
        known = {
            "action": said["action"] in AccessAction.values,
            "run": said["run"].isdecimal() and len(said["run"]) <= 18,
            "since": _day(said["since"]) is not None,
            "until": _day(said["until"]) is not None,
            "address": _network(said["address"]) is not None,
        }
        return cls(**{name: text if known.get(name, True) else "" for name, text in said.items()})

    @property
    def said(self) -> dict[str, str]:
        """The filters that are set."""
        pairs = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in pairs.items() if value}

    @property
    def text(self) -> str:
        """As a query string."""
        return urlencode(self.said)


def access_list(
    *, project: Project, wanted: AccessFilter, before: int | None = None, limit: int
) -> list[AccessEntry]:
    """Lines newest first. `before`: id of the last one seen.

    Lines are only ever added, so that ids ascend with time.
    """
    entries = _matching(project, wanted)
    if before is not None:
        entries = entries.filter(pk__lt=before)
    return list(entries.order_by("-pk")[:limit])


def access_all(*, project: Project, wanted: AccessFilter, until: int) -> Iterator[AccessEntry]:
    """All lines up to that id, oldest first, fetched as they are taken."""
    entries = _matching(project, wanted).filter(pk__lte=until).order_by("pk")
    last = 0
    while page := list(entries.filter(pk__gt=last)[:LINES_AT_ONCE]):
        yield from page
        last = page[-1].pk


def _matching(project: Project, wanted: AccessFilter) -> QuerySet[AccessEntry]:
    members = Membership.objects.filter(project=project).values("user_id")
    # Of no project are sign-ins: those of members, and failed ones of no account.
    signing_in = Q(user_id__in=members) | Q(user_id=None)
    found = Q(project_id=project.pk) | Q(signing_in, project_id=None)
    if wanted.who:
        found &= Q(who__icontains=wanted.who)
    if wanted.action:
        found &= Q(action=wanted.action)
    if wanted.what:
        found &= Q(what__istartswith=wanted.what)
    if wanted.run:
        found &= Q(run_pk=int(wanted.run))
    if (since := _day(wanted.since)) is not None:
        found &= Q(at__gte=since)
    if (until := _day(wanted.until)) is not None:
        found &= Q(at__lt=until + timedelta(days=1))
    entries = AccessEntry.objects.filter(found)
    if (network := _network(wanted.address)) is not None:
        # Postgres's own: an address lies in a network, or is it.
        inside = RawSQL("address <<= %s::inet", (str(network),), output_field=BooleanField())
        entries = entries.annotate(inside=inside).filter(inside=True)
    return entries


def _day(text: str) -> datetime | None:
    try:
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if text else None
    except ValueError:
        return None
