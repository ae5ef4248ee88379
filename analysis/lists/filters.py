"""What a run list shows: all of it stands in the address, and is told in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from transcripts.masking import Masker

TABS = {"flagged": "Flagged", "all": "All", "live": "Live", "mine": "Mine"}
# What the API can ask for besides.
UNFLAGGED = "unflagged"
SORTS = {
    "newest": "newest first",
    "oldest": "oldest first",
    "best": "best match first",
    "cost": "most expensive first",
    "rounds": "most rounds first",
    "wasted": "most wasted rounds first",
}
# A search is read by what fits it best; everything else by time.
SEARCH_SORT, USUAL_SORT = "best", "newest"
SINCE = {
    "1h": ("last hour", timedelta(hours=1)),
    "24h": ("last 24 hours", timedelta(hours=24)),
    "7d": ("last 7 days", timedelta(days=7)),
    "30d": ("last 30 days", timedelta(days=30)),
    "90d": ("last 90 days", timedelta(days=90)),
}
YES_NO = {"yes": "yes", "no": "no"}
# Owners that are no person's id.
ME, NOBODY = "me", "nobody"
LONGEST = 500
_SPAN = re.compile(r"(\d{1,4})([hd])")


# What people write in their own words.
TYPED = ("agent", "tool", "called", "model", "prompt", "code", "ticket", "label", "q")


@dataclass(frozen=True)
class RunFilter:
    """What a run list shows. Empty strings filter nothing.

    `ticket` is a whole ticket id, `label` is `name=value`, `tool` the tool of a finding, `called`
    one that was called, `q` what is searched for. `since` is a span such as `24h` or `7d`, `from_`
    and `to` are times (ISO 8601, in UTC where they say no zone), both of the run's arrival.
    `owner` is a person's id, `me` or `nobody`; `incident` its number.
    """

    tab: str = "flagged"
    agent: str = ""
    ending: str = ""
    finding: str = ""
    verdict: str = ""
    tool: str = ""
    called: str = ""
    stop: str = ""
    model: str = ""
    prompt: str = ""
    code: str = ""
    ticket: str = ""
    label: str = ""
    cost_from: str = ""
    cost_to: str = ""
    rounds_from: str = ""
    rounds_to: str = ""
    since: str = ""
    from_: str = ""
    to: str = ""
    restricted: str = ""
    incomplete: str = ""
    sub: str = ""
    owner: str = ""
    incident: str = ""
    q: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, Any]) -> RunFilter:
        """From a query string; an unknown tab counts as the first, an unknown order as none."""
        said = {
            item.name: str(query.get(item.name.strip("_")) or "")
            .replace("\0", "")
            .strip()[:LONGEST]
            for item in fields(cls)
        }
        if said["tab"] not in TABS:
            said["tab"] = "flagged"
        if said["sort"] not in SORTS:
            said["sort"] = ""
        return cls(**said)

    @classmethod
    def of_text(cls, text: str) -> RunFilter:
        """From what `text` wrote."""
        return cls.of(QueryDict(text))

    @property
    def narrowing(self) -> dict[str, str]:
        """The filters that are set, without tab and order."""
        pairs = {item.name.strip("_"): getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in pairs.items() if value and name not in UNCOUNTED}

    @property
    def text(self) -> str:
        """As a query string, without what is default."""
        tab = {} if self.tab == "flagged" else {"tab": self.tab}
        sort = {"sort": self.sort} if self.sort else {}
        return urlencode({**tab, **self.narrowing, **sort})

    def masked(self, masker: Masker) -> RunFilter:
        """The same as it may be kept. Each value by itself: in a query string a secret is no longer
        in the words that it is recognised by.
        """
        return replace(self, **{name: masker.text(getattr(self, name)) for name in TYPED})

    @property
    def order(self) -> str:
        """The order that is in force."""
        if self.sort == "best" and not self.q:
            return USUAL_SORT
        return self.sort or (SEARCH_SORT if self.q else USUAL_SORT)

    @property
    def searches(self) -> bool:
        """Whether the text index is asked."""
        return bool(self.q or self.called or self.stop)

    def on(self, tab: str) -> RunFilter:
        return replace(self, tab=tab)

    def without(self, *names: str) -> RunFilter:
        """The same without some filters, by their names in the address."""
        known = {item.name.strip("_"): item.name for item in fields(self)}
        return replace(self, **{known[name]: "" for name in names if name in known})

    def sorted_by(self, sort: str) -> RunFilter:
        return replace(self, sort=sort)


UNCOUNTED = frozenset({"tab", "sort"})


def span_of(text: str) -> timedelta | None:
    """A span such as `24h` or `7d`; None for anything else."""
    found = _SPAN.fullmatch(text)
    if not found:
        return None
    count = int(found[1])
    return timedelta(hours=count) if found[2] == "h" else timedelta(days=count)


def time_of(text: str) -> datetime | None:
    """A time in ISO 8601, a day alone counting from its start; None for anything else."""
    try:
        found = parse_datetime(text) or datetime.fromisoformat(text)
        if found.tzinfo is None:
            found = found.replace(tzinfo=UTC)
        return found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def number_of(text: str) -> Decimal | None:
    """A number that a column can be compared with; None for anything else."""
    try:
        found = Decimal(text.replace(",", ".") if text.count(",") == 1 else text)
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found) < 10**13 else None


def count_of(text: str) -> int | None:
    """A count that a column can be compared with; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
