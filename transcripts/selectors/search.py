"""Full-text search over the masked transcripts of a project: which runs, and where in them.

Who may not read transcripts searches none: what a search finds would tell what stands in them. The
same holds for restricted runs and who is not named for them, in the rows and in every count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models.expressions import RawSQL

from transcripts.models import Project, Run, RunTextDue
from transcripts.models.runs import TEXT_VERSION
from transcripts.selectors.texts import Place, header_texts, texts_of_rounds
from transcripts.text_index.asked import Asked
from transcripts.text_index.sheets import STEPS, mark_of
from transcripts.text_index.words import folded, places_of, readable

# Runs that are not searched yet are counted so far.
MOST_BEHIND = 100
# Rounds that are read for the lines of one page, and for each run at least.
ROUNDS_READ = 800
ROUNDS_OF_A_RUN = 40
# The line that is shown: characters before the match, and in all.
BEFORE, EXCERPT = 70, 240


@dataclass(frozen=True)
class Scope:
    """The runs among which one searches: from `lowest` (id) on, and the marks of these runs; all of
    them where there are none.
    """

    lowest: int = 0
    marks: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        return not self.marks


@dataclass(frozen=True)
class Line:
    """The line of a run that holds what is searched for. `parts` are (text, whether it is it).

    `round` 0: in what the run is named by; `named`: there is a match there. `met` counts the words
    that are in its text, `count` all matches in what was read of the run.
    """

    round: int
    part: str
    parts: tuple[tuple[str, bool], ...]
    named: bool
    met: int
    count: int


def scopes(*, project: Project, newest: int) -> list[Scope]:
    """Ever wider scopes, from the newest run (id) back; the last is all runs.

    So that a page of the newest matches costs the same for a common word as for a rare one.
    """
    found = []
    for step, bits in STEPS.items():
        last = newest >> bits
        if last > 1:
            marks = tuple(f"'#{step}{project.pk}_{part}'" for part in (last, last - 1))
            found.append(Scope((last - 1) << bits, marks))
    return [*found, Scope()]


def runs_behind(*, project: Project) -> int:
    """How many runs of the project are not, or not all, in the text index yet; MOST_BEHIND at
    most.
    """
    due = RunTextDue.objects.filter(run__project=project)[:MOST_BEHIND].count()
    old = Run.objects.filter(project=project, text_version__lt=TEXT_VERSION)
    return min(due + old[:MOST_BEHIND].count(), MOST_BEHIND)


def runs_found(
    *,
    project: Project,
    asked: Asked,
    marks: Sequence[str],
    restricted: bool,
    scope: Scope,
    names: str = "",
) -> RawSQL:
    """The ids of runs that hold all terms and marks, as a subquery. `restricted`: also of
    restricted runs, which have marks for everybody. `names`: besides what holds the terms, what has
    a ticket or run id that begins so.
    """
    parameters: list[Any] = []

    def rows(term: str) -> str:
        within = " | ".join(scope.marks) or f"'#p{project.pk}'"
        parameters.append(f"({term}) & ({within})")
        return "SELECT run_id FROM transcripts_runtext WHERE words @@ %s::tsquery"

    parts = []
    if asked.terms:
        sql = " INTERSECT ".join(rows(term) for term in asked.terms)
        for term in asked.without:
            sql += f" EXCEPT {rows(term)}"
        if not restricted:
            sql += " EXCEPT SELECT id FROM transcripts_run WHERE project_id = %s AND restricted"
            parameters.append(project.pk)
        # Transcripts that are being removed are read by nobody, while some of their rows are left.
        sql += " EXCEPT SELECT id FROM transcripts_run WHERE removal <> ''"
        parts.append(sql)
    if names:
        parts.append(f"{NAMED} AND id >= %s")
        parameters += [*named_parameters(project, names), scope.lowest]
    sql = " UNION ".join(f"({part})" for part in parts)
    for mark in marks:
        sql = f"({sql}) INTERSECT {rows(mark)}" if sql else rows(mark)
    return RawSQL(f"WITH found AS MATERIALIZED ({sql}) SELECT run_id FROM found", parameters)


# As the indexes are.
NAMED = (
    "SELECT id AS run_id FROM transcripts_run WHERE project_id = %s"
    " AND (upper(left(ticket_id, 200)) LIKE %s OR upper(left(run_id, 200)) LIKE %s)"
)


def named_parameters(project: Project, names: str) -> list[Any]:
    for special in "\\%_":
        names = names.replace(special, f"\\{special}")
    return [project.pk, f"{names[:200].upper()}%", f"{names[:200].upper()}%"]


def mark_term(kind: str, name: str) -> str:
    """The text query of a tool that was called (kind `t`), or of a stop reason of a round (`s`)."""
    return f"'{mark_of(kind, name)}'"


def rows_estimate(*, project: Project, terms: Sequence[str]) -> int:
    """About how many rows of the index the rarest of the terms is in, by Postgres's statistics."""
    rows = []
    with connection.cursor() as cursor:
        for term in terms:
            cursor.execute(
                "EXPLAIN (FORMAT JSON)"
                " SELECT 1 FROM transcripts_runtext WHERE words @@ %s::tsquery",
                (f"({term}) & '#p{project.pk}'",),
            )
            ((plan,),) = cursor.fetchone()
            rows.append(int(plan["Plan"]["Plan Rows"]))
    return min(rows, default=0)


_PLACES = """
SELECT run_id, rounds FROM (
    SELECT run_id, rounds, row_number() OVER (
        PARTITION BY run_id ORDER BY (words @@ %s::tsquery) DESC, first_round = 0, first_round
    ) AS place
    FROM transcripts_runtext WHERE run_id = ANY(%s) AND words @@ %s::tsquery
) AS best WHERE place <= 2 ORDER BY run_id, place
"""


def lines_of(*, runs: Sequence[Run], asked: Asked) -> dict[int, Line]:
    """For each run the line that holds most of what is asked, by run id. Four queries, and no more
    rounds are read than ROUNDS_READ.
    """
    if not (runs and asked):
        return {}
    by_run: dict[int, list[int]] = {}
    with connection.cursor() as cursor:
        every = " & ".join(f"({term})" for term in asked.terms)
        some = " | ".join(f"({term})" for term in asked.terms)
        cursor.execute(_PLACES, (every, [run.pk for run in runs], some))
        for run_pk, rounds in cursor.fetchall():
            by_run.setdefault(run_pk, []).extend(rounds)
    each = max(ROUNDS_OF_A_RUN, ROUNDS_READ // max(len(by_run), 1))
    places: list[Place] = [
        (run_pk, number)
        for run_pk, rounds in by_run.items()
        for number in sorted({*rounds} - {0})[:each]
    ]
    texts = texts_of_rounds(places)
    found: dict[int, Line] = {}
    for run in runs:
        header = [("named", text) for text in header_texts(run)]
        told = [
            (0, header),
            *((p[1], texts[p].texts) for p in places if p[0] == run.pk and p in texts),
        ]
        line = _best_line(told, asked)
        if line is not None:
            found[run.pk] = line
    return found


def holding(*, run_pks: Sequence[int], asked: Asked) -> set[int]:
    """Which of the runs hold every phrase in one text. Reads the texts of the rows that may."""
    every = " & ".join(f"({term})" for term in asked.terms)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id, rounds FROM transcripts_runtext"
            " WHERE run_id = ANY(%s) AND words @@ %s::tsquery ORDER BY run_id DESC",
            (list(run_pks), every),
        )
        rows = cursor.fetchall()
    held: set[int] = set()
    missing: dict[int, set[re.Pattern[str]]] = {run_pk: {*asked.phrases} for run_pk, _ in rows}
    for places in _batches(rows):
        if missing.keys() <= held:
            break
        for place, found in texts_of_rounds(places).items():
            left = missing[place[0]]
            for _, text in found.texts:
                said = folded(readable(text))
                left -= {phrase for phrase in left if phrase.search(said)}
            if not left:
                held.add(place[0])
    headers = {run_pk for run_pk, rounds in rows if rounds == [0]} - held
    for run in Run.objects.filter(pk__in=headers):
        said = folded("\n".join(header_texts(run)))
        if all(phrase.search(said) for phrase in asked.phrases):
            held.add(run.pk)
    return held


def _batches(rows: Iterable[tuple[int, list[int]]], size: int = 500) -> Iterator[list[Place]]:
    batch: list[Place] = []
    for run_pk, rounds in rows:
        batch += [(run_pk, number) for number in rounds if number]
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _best_line(
    rounds: Iterable[tuple[int, Sequence[tuple[str, str]]]], asked: Asked
) -> Line | None:
    """The text that holds most of the patterns, of these the first in a round; and how many matches
    there are in all that was read.
    """
    best: tuple[tuple[int, bool], int, str, str] | None = None
    count, named = 0, False
    for number, texts in rounds:
        for part, text in texts:
            said = readable(text)
            plain = folded(said)
            hits = [len(pattern.findall(plain)) for pattern in asked.shows]
            count += sum(hits)
            named = named or (number == 0 and any(hits))
            score = (sum(hit > 0 for hit in hits), number > 0)
            if score[0] and (best is None or score > best[0]):
                best = (score, number, part, said)
    if best is None:
        return None
    score, number, part, said = best
    return Line(number, part, _excerpt(said, asked), named, score[0], count)


def _excerpt(text: str, asked: Asked) -> tuple[tuple[str, bool], ...]:
    """The line of a text around its first match, with all matches in it set apart."""
    at = _first(text, asked)
    start = max(text.rfind("\n", 0, at) + 1, at - BEFORE)
    end = text.find("\n", at)
    end = min(len(text) if end < 0 else end, start + EXCERPT)
    cut = text[start:end]
    spans = _spans(cut, asked)
    parts: list[tuple[str, bool]] = [("…", False)] if start and text[start - 1] != "\n" else []
    at = 0
    for first, last in spans:
        parts += [(cut[at:first], False), (cut[first:last], True)]
        at = last
    parts.append((cut[at:] + ("…" if end < len(text) and text[end] != "\n" else ""), False))
    return tuple(part for part in parts if part[0])


def _first(text: str, asked: Asked) -> int:
    """Where the pattern that is hardest to meet matches first."""
    plain = folded(text)
    found = [match for pattern in asked.shows if (match := pattern.search(plain))]
    if not found:
        return 0
    match = max(found, key=lambda each: each.end() - each.start())
    if len(plain) == len(text):
        return match.start()
    # Folding made it longer or shorter: count words instead.
    before = sum(1 for _ in places_of(plain[: match.start()]))
    for index, (start, _, _) in enumerate(places_of(text)):
        if index == before:
            return start
    return 0


def _spans(text: str, asked: Asked) -> list[tuple[int, int]]:
    plain = folded(text)
    if len(plain) == len(text):
        spans = sorted(match.span() for pattern in asked.shows for match in pattern.finditer(plain))
    else:
        spans = [
            (start, end)
            for start, end, word in places_of(text)
            if any(pattern.search(folded(word)) for pattern in asked.shows)
        ]
    apart: list[tuple[int, int]] = []
    for first, last in spans:
        if apart and first < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(last, apart[-1][1]))
        else:
            apart.append((first, last))
    return apart
