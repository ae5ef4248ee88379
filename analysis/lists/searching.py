"""What a run list's search finds, so that filters, orders and counts go on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from analysis.lists.filters import RunFilter
from analysis.lists.matching import runs_matching
from transcripts.access import May, Reader
from transcripts.models import Project, Run
from transcripts.selectors.search import (
    Line,
    Scope,
    holding,
    lines_of,
    mark_term,
    rows_estimate,
    runs_found,
    scopes,
)
from transcripts.text_index.asked import Asked, asked_of

# A search that finds no more runs than this is known whole; of one that finds more, the newest are
# looked at first.
MANY = 5_000
# Runs whose texts are read to see whether they hold a phrase word for word.
READ_FOR_PHRASE = 400
# The newest matches among which the best are told, and how many of them are read for it.
RANKED = 1_000
READ_FOR_RANK = 100


@dataclass(frozen=True)
class Search:
    """What is searched for in a project by one reader, and what it found.

    `pks` are the ids of all runs found, None where they are too many. `loosened`: nothing holds the
    words themselves, so that beginnings of words and parts of identifiers count. `read`: no more
    than so many runs were read for the phrase, None where all were. `about`: so many rows of the
    index hold it, by an estimate.
    """

    project: Project
    words: str
    asked: Asked
    marks: tuple[str, ...]
    restricted: bool
    pks: tuple[int, ...] | None = None
    loosened: bool = False
    read: int | None = None
    about: int = 0

    @property
    def terms(self) -> tuple[str, ...]:
        """All that the text index is asked for."""
        return (*self.asked.terms, *self.marks)

    @cached_property
    def scopes(self) -> list[Scope]:
        """Where to look, one after the other."""
        if self.pks is not None or not self.terms:
            return [Scope()]
        newest = Run.objects.filter(project=self.project).order_by("-pk")
        return scopes(project=self.project, newest=newest.values_list("pk", flat=True).first() or 0)

    def narrow(self, runs: QuerySet[Run], scope: Scope | None = None) -> QuerySet[Run]:
        """Those of the runs that are found, within a scope where it is one of `scopes`."""
        if self.pks is not None:
            return runs.filter(pk__in=ids(self.pks))
        return runs.filter(pk__in=self.found(scope or Scope()))

    def found(self, scope: Scope) -> RawSQL:
        """The ids of what is found within a scope, as a subquery."""
        return runs_found(
            project=self.project,
            asked=self.asked,
            marks=self.marks,
            restricted=self.restricted,
            scope=scope,
            names=self.words,
        )

    def newest(self, runs: QuerySet[Run], limit: int) -> list[int]:
        """The ids of the newest of the runs that are found."""
        found: list[int] = []
        for scope in self.scopes:
            narrowed = self.narrow(runs, scope).order_by("-pk")
            found = list(narrowed.values_list("pk", flat=True)[:limit])
            if len(found) == limit:
                break
        return found

    def lines(self, runs: Sequence[Run]) -> dict[int, Line]:
        """For each run the line that is shown; none of a run that the reader may not read."""
        readable = [run for run in runs if self.restricted or not run.restricted]
        return lines_of(runs=readable, asked=self.asked)


def search_of(*, project: Project, wanted: RunFilter, reader: Reader | None) -> Search | None:
    """What the filter's search finds for a reader; None where nothing is searched for.

    Who may not read transcripts finds runs by the beginning of their names alone. No reader stands
    for an API key, which reads all but restricted runs.
    """
    if not wanted.searches:
        return None
    may_read = reader is None or reader.may(May.READ_TRANSCRIPTS)
    restricted = reader is not None and reader.restricted and may_read
    asked = asked_of(wanted.q) if may_read else Asked()
    marks = tuple(
        mark_term(kind, name) for kind, name in (("t", wanted.called), ("s", wanted.stop)) if name
    )
    search = Search(project, wanted.q, asked, marks, restricted)
    if not search.terms:
        return search
    search = _looked_up(search)
    if search.pks == () and asked.loosened.terms:
        loose = _looked_up(replace(search, asked=asked.loosened, pks=None, loosened=True))
        search = loose if loose.pks != () else search
    if search.asked.phrases and search.pks != ():
        search = _word_for_word(search, wanted, reader)
    # Where nothing holds parts either, nothing is to be said of them.
    return replace(search, loosened=search.loosened and search.pks != ())


def _looked_up(search: Search) -> Search:
    """The search with the ids that it finds, where they are not many."""
    about = rows_estimate(project=search.project, terms=search.terms)
    if about > MANY:
        return replace(search, about=about)
    sql = search.found(Scope())
    with connection.cursor() as cursor:
        cursor.execute(f"{sql.sql} LIMIT {MANY + 1}", sql.params)
        pks = tuple({pk for (pk,) in cursor.fetchall()})
    if len(pks) > MANY:
        return replace(search, about=max(about, len(pks)))
    return replace(search, pks=pks)


def _word_for_word(search: Search, wanted: RunFilter, reader: Reader | None) -> Search:
    """The search with the ids of those that hold its phrases."""
    runs = runs_matching(project=search.project, wanted=wanted, reader=reader)
    newest = search.newest(runs, READ_FOR_PHRASE)
    held = holding(run_pks=newest, asked=search.asked)
    read = READ_FOR_PHRASE if len(newest) == READ_FOR_PHRASE else None
    return replace(search, pks=tuple(held), read=read)


def ids(pks: Sequence[int]) -> RawSQL:
    """Ids as a subquery, however many they are."""
    return RawSQL("SELECT unnest(%s::bigint[])", [list(pks)])


def ranked(*, search: Search, runs: QuerySet[Run]) -> list[int]:
    """The ids of the newest RANKED of the runs that are found, the best first.

    Better is what is named so, then what holds more of the words in one text, then what holds them
    more often, then what is newer. Read for this are the newest READ_FOR_RANK.
    """
    newest = search.newest(runs, RANKED)
    if not search.asked:
        return newest
    read = Run.objects.in_bulk(newest[:READ_FOR_RANK])
    lines = search.lines(list(read.values()))

    def merit(pk: int) -> tuple[bool, int, int, int]:
        line = lines.get(pk)
        if line is None:
            # Named alone, or not read.
            return (pk in read, 0, 0, pk)
        return (line.named, line.met, line.count.bit_length(), pk)

    return sorted(newest, key=merit, reverse=True)
