"""Which runs a filter matches, as a query."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django.utils import timezone

from analysis.lists.filters import (
    ME,
    NOBODY,
    UNFLAGGED,
    RunFilter,
    count_of,
    number_of,
    span_of,
    time_of,
)
from analysis.models import Finding, IncidentRun, RunTriage
from analysis.models.verdicts import cost_within
from transcripts.access import Reader
from transcripts.choices import Ending, Removal
from transcripts.models import Project, Run
from transcripts.models.runs import KEY

# Texts that runs are filtered by, with their column. An index holds their first characters.
TEXTS = {
    "agent": "agent",
    "model": "model",
    "prompt": "prompt_version",
    "code": "code_version",
    "ticket": "ticket_id",
}
# Ids are given in the order of arrival, but for what arrives at once.
AT_ONCE = 1_000


def runs_matching(*, project: Project, wanted: RunFilter, reader: Reader | None) -> QuerySet[Run]:
    """All runs of the project that match all filters but those that the text index answers (words,
    tools called, stop reasons: `analysis.lists.searching`), in no order.

    What is no number, time or known name where one is asked for matches nothing.
    """
    there = Run.objects.filter(project=project).exclude(removal=Removal.RUN)
    runs = _on_tab(there, project, wanted.tab, reader)
    for name, column in TEXTS.items():
        value = getattr(wanted, name)
        if value:
            runs = runs.alias(**{f"{name}_key": Left(column, KEY)})
            runs = runs.filter(**_same(f"{name}_key", column, value))
    if wanted.ending:
        runs = runs.filter(ending=wanted.ending)
    if wanted.label:
        runs = runs.filter(_labelled(project, wanted.label))
    if wanted.verdict:
        runs = runs.filter(verdict__project=project, verdict__kind=wanted.verdict)
    if wanted.finding or wanted.tool:
        runs = runs.filter(Exists(_findings(wanted)))
    for condition in (*_measured(project, wanted), *_told(project, wanted, reader)):
        runs = runs.filter(condition)
    return _in_time(runs, project, wanted)


def _same(key: str, column: str, value: str) -> dict[str, str]:
    """A look-up by the first characters of a text, which an index holds. All of it is compared only
    where it is longer, since Postgres would expect far fewer rows of both than there are.
    """
    return {key: value[:KEY], **({column: value} if len(value) >= KEY else {})}


def _on_tab(
    runs: QuerySet[Run], project: Project, tab: str, reader: Reader | None
) -> QuerySet[Run]:
    if tab == "flagged":
        return runs.filter(verdict__project=project, verdict__flagged=True)
    if tab == UNFLAGGED:
        return runs.filter(verdict__project=project, verdict__flagged=False)
    if tab == "live":
        return runs.filter(ending=Ending.OPEN)
    if tab == "mine":
        return runs.filter(_owned(ME, reader))
    return runs


def _owned(owner: str, reader: Reader | None) -> Q:
    if owner == NOBODY:
        return Q(~Exists(RunTriage.objects.filter(run=OuterRef("pk"), owner__isnull=False)))
    pk = (reader.user.pk if reader else None) if owner == ME else count_of(owner)
    if pk is None:
        return Q(pk__in=())
    return Q(pk__in=RunTriage.objects.filter(owner=pk).values("run"))


def _labelled(project: Project, label: str) -> Q:
    name, equals, value = label.partition("=")
    if not equals:
        return Q(pk__in=())
    theirs = Q(labels__contains=[[name, value]])
    ours = RunTriage.objects.filter(labels__contains=[[name, value]])
    # Most labels are either the sender's or ours, and an index answers one of the two much faster.
    if not ours.exists():
        return theirs
    by_us = Q(pk__in=ours.values("run"))
    return theirs | by_us if Run.objects.filter(theirs, project=project).exists() else by_us


def _findings(wanted: RunFilter) -> QuerySet[Finding]:
    found = Finding.objects.filter(run=OuterRef("pk"))
    if wanted.finding:
        found = found.filter(detector=wanted.finding)
    if wanted.tool:
        found = found.alias(key=Left("tool", KEY))
        found = found.filter(**_same("key", "tool", wanted.tool))
    return found


def _measured(project: Project, wanted: RunFilter) -> Iterator[Q]:
    for text, look_up in (
        (wanted.rounds_from, "round_count__gte"),
        (wanted.rounds_to, "round_count__lte"),
    ):
        if text:
            count = count_of(text)
            yield Q(pk__in=()) if count is None else Q(**{look_up: count})
    cost = cost_within("verdict__")
    for text, compared in (
        (wanted.cost_from, GreaterThanOrEqual),
        (wanted.cost_to, LessThanOrEqual),
    ):
        if text:
            number = number_of(text)
            if number is None:
                yield Q(pk__in=())
                continue
            # By the expression that is in the index, which has none as less than nothing.
            known = Q(GreaterThanOrEqual(cost, Decimal(0)))
            yield known & Q(compared(cost, number), verdict__project=project)


def _told(project: Project, wanted: RunFilter, reader: Reader | None) -> Iterator[Q]:
    """Conditions on what is said of a run as a whole."""
    for text, yes in (
        (wanted.restricted, Q(restricted=True)),
        (wanted.incomplete, Q(completeness__complete=False)),
        (wanted.sub, ~Q(parent_run_id="")),
    ):
        if text:
            yield {"yes": yes, "no": ~yes}.get(text, Q(pk__in=()))
    if wanted.owner:
        yield _owned(wanted.owner, reader)
    if wanted.incident:
        number = count_of(wanted.incident.upper().removeprefix("INC-"))
        seen = IncidentRun.objects.filter(
            incident__project=project, incident__number=-1 if number is None else number
        )
        yield Q(pk__in=seen.values("run"))


def _in_time(runs: QuerySet[Run], project: Project, wanted: RunFilter) -> QuerySet[Run]:
    """Arrivals within the wanted times. The first and last ids are looked up besides, so that
    what is read in the order of ids starts there.
    """
    every = Run.objects.filter(project=project)
    if wanted.since:
        span = span_of(wanted.since)
        if span is None:
            return runs.none()
        runs = _arrived_from(runs, every, timezone.now() - span)
    for text, narrow in ((wanted.from_, _arrived_from), (wanted.to, _arrived_to)):
        if text:
            time = time_of(text)
            if time is None:
                return runs.none()
            runs = narrow(runs, every, time)
    return runs


def _arrived_from(runs: QuerySet[Run], every: QuerySet[Run], time: object) -> QuerySet[Run]:
    later = every.filter(received_at__gte=time).order_by("received_at", "pk")
    first = later.values_list("pk", flat=True).first()
    if first is None:
        return runs.none()
    return runs.filter(received_at__gte=time, pk__gte=first - AT_ONCE)


def _arrived_to(runs: QuerySet[Run], every: QuerySet[Run], time: object) -> QuerySet[Run]:
    before = every.filter(received_at__lte=time).order_by("-received_at", "-pk")
    last = before.values_list("pk", flat=True).first()
    if last is None:
        return runs.none()
    return runs.filter(received_at__lte=time, pk__lte=last + AT_ONCE)
