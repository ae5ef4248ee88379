"""How many runs a list shows: exactly while they are few, "about" where counting takes long."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count as Counted
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from analysis.lists.filters import TABS, RunFilter
from analysis.lists.matching import runs_matching
from analysis.lists.searching import Search
from analysis.models import RunTriage, Verdict
from transcripts.access import Reader
from transcripts.choices import Ending, Removal
from transcripts.models import Project, Run
from transcripts.selectors.counting import counts_of

# Nobody reads on from there, and counting all of a million is slow. A tab as such is counted in an
# index alone, and further.
COUNT_UP_TO, COUNT_TAB_UP_TO = 1_000, 10_000
# Where Postgres expects so many, they are not counted to see whether they are few.
SURELY_MORE = 3 * COUNT_UP_TO
# An estimate is told with so many digits.
DIGITS = 2


@dataclass(frozen=True)
class Count:
    """How many runs: `number` of them, about or over so many; None: not counted."""

    number: int | None
    how: str = "exactly"

    def __str__(self) -> str:
        if self.number is None:
            return "many"
        before = "" if self.how == "exactly" else f"{self.how} "
        return f"{before}{spoken(self.number)}"


def spoken(number: int) -> str:
    """A number as people say it: "9,120", "1.2 million"."""
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}".removesuffix(".0") + " million"
    return f"{number:,}"


def run_counts(
    *, project: Project, wanted: RunFilter, reader: Reader, search: Search | None = None
) -> dict[str, Count]:
    """How many runs each tab would show. One query, and one more for each that is estimated."""
    counts: dict[str, Count] = {}
    if search is None or search.pks is not None:
        counts = _together(project=project, wanted=wanted, reader=reader, search=search)
    counted: dict[str, QuerySet[Any]] = {}
    for tab in TABS:
        if tab in counts:
            continue
        if search is not None and search.terms and search.pks is None:
            counts[tab] = _of_search(search, wanted.on(tab))
        elif search is not None and search.read and tab != wanted.tab:
            counts[tab] = Count(None)
        else:
            runs = runs_matching(project=project, wanted=wanted.on(tab), reader=reader)
            counted[tab] = search.narrow(runs) if search else runs
    if "flagged" in counted and not wanted.narrowing:
        counted["flagged"] = _all_flagged(project)
    found = _counts(counted.values(), COUNT_UP_TO if wanted.narrowing else COUNT_TAB_UP_TO)
    for tab, count in zip(counted, found, strict=True):
        at_least = search is not None and search.read
        counts[tab] = Count(count.number, "at least") if at_least else count
    return counts


def _together(
    *, project: Project, wanted: RunFilter, reader: Reader, search: Search | None
) -> dict[str, Count]:
    """The counts of all tabs by one look at the runs; of the tab of all alone where these are more
    than COUNT_UP_TO; of none where this is certain, or more is to be told of them.
    """
    if not wanted.narrowing or (search is not None and search.read):
        return {}
    runs = runs_matching(project=project, wanted=wanted.on("all"), reader=reader)
    owned = RunTriage.objects.filter(run=OuterRef("pk"), owner=reader.user)
    each = (search.narrow(runs) if search else runs).annotate(
        is_flagged=F("verdict__flagged"), is_mine=Exists(owned)
    )
    about = _estimate(each)
    if about > SURELY_MORE:
        return {}
    found = each.order_by()[: COUNT_UP_TO + 1].aggregate(
        all=Counted("pk"),
        flagged=Counted("pk", filter=Q(is_flagged=True)),
        live=Counted("pk", filter=Q(ending=Ending.OPEN)),
        mine=Counted("pk", filter=Q(is_mine=True)),
    )
    if found["all"] > COUNT_UP_TO:
        return {"all": _more(about, COUNT_UP_TO)}
    return {tab: Count(found[tab]) for tab in TABS}


def count_of_runs(runs: QuerySet[Any]) -> Count:
    """How many runs a query gives."""
    (count,) = _counts([runs], COUNT_UP_TO)
    return count


def _counts(queries: Iterable[QuerySet[Any]], up_to: int) -> list[Count]:
    """How many rows each query gives; exactly `up_to` so many. One query, and one more for each
    that gives more.
    """
    rows = [query.order_by().values("pk") for query in queries]
    numbers = counts_of(*(each[: up_to + 1] for each in rows)) if rows else []
    return [
        Count(number) if number <= up_to else _more(_estimate(each), up_to)
        for each, number in zip(rows, numbers, strict=True)
    ]


def _more(about: int, than: int) -> Count:
    """A count that was broken off, by what Postgres expects."""
    return Count(about, "about") if about > than else Count(than, "over")


def _all_flagged(project: Project) -> QuerySet[Verdict]:
    """All flagged runs of a project, as an index alone knows them."""
    going = Run.objects.filter(~Q(removal=Removal.NONE), removal=Removal.RUN)
    return Verdict.objects.filter(project=project, flagged=True).exclude(run__in=going)


def _of_search(search: Search, wanted: RunFilter) -> Count:
    if wanted.tab != "all" or len(wanted.narrowing) > 1:
        return Count(None)
    return Count(_rounded(search.about), "about")


def _estimate(runs: QuerySet[Any]) -> int:
    """How many rows Postgres expects, by its statistics."""
    told = runs.order_by().values("pk").explain(format="json")
    if not told:
        # Django knows that there are none, and asks nobody.
        return 0
    (plan,) = json.loads(told)
    return _rounded(int(plan["Plan"]["Plan Rows"]))


def _rounded(number: int) -> int:
    if number <= 0:
        return 0
    unit = 10 ** max(int(math.log10(number)) + 1 - DIGITS, 0)
    rounded: int = round(number / unit) * unit
    return rounded
