"""Reads of what people said about runs and incidents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Q, QuerySet

from analysis.models import Annotation, AnnotationKind, Incident, Mention
from analysis.root_causes import ROOT_CAUSE, RootCause
from transcripts.access import May, Reader
from transcripts.models import Project, Run
from transcripts.selectors.pointers import numbers_of


@dataclass(frozen=True)
class RunAnnotations:
    """All that people said about a run, in order of time.

    `by_round` holds what is said of one round, by the number that it has now; `lost` what points at
    a round that is no longer there.
    """

    rows: list[Annotation]
    by_round: dict[int, list[Annotation]] = field(default_factory=dict)
    lost: list[Annotation] = field(default_factory=list)

    @property
    def root_cause(self) -> RootCause | None:
        """The root cause that counts: the latest."""
        named = [row.cause for row in self.rows if row.kind == AnnotationKind.ROOT_CAUSE]
        return ROOT_CAUSE.get(named[-1]) if named else None


def run_annotations(*, run: Run) -> RunAnnotations:
    """What people said about a run. One query, and one more where it is about rounds."""
    rows = list(_shown().filter(run=run).order_by("created_at", "pk"))
    pointers = {row.pointer for row in rows if row.pointer}
    numbers = numbers_of(run=run, pointers=pointers) if pointers else {}
    found = RunAnnotations(rows)
    for row in rows:
        if not row.pointer:
            continue
        row.round = numbers.get(row.pointer)
        if row.round is None:
            found.lost.append(row)
        elif row.kind != AnnotationKind.ODD_ROUND:
            found.by_round.setdefault(row.round, []).append(row)
    return found


def incident_annotations(*, incident: Incident) -> list[Annotation]:
    """What people said about an incident, and about those that it took over, in order of time."""
    about = Q(incident=incident) | Q(incident__merged_into=incident)
    return list(_shown().filter(about).order_by("created_at", "pk"))


def annotation_by_id(*, project: Project, pk: int) -> Annotation | None:
    """An annotation that is not removed, with what it is about."""
    return (
        _shown()
        .filter(project=project, pk=pk)
        .select_related("run__verdict", "incident", "author")
        .first()
    )


def root_causes_of(*, run_pks: Iterable[int]) -> dict[int, RootCause]:
    """The root cause that counts, by run."""
    rows = (
        Annotation.objects.filter(
            run__in=list(run_pks), kind=AnnotationKind.ROOT_CAUSE, removed_at=None
        )
        .order_by("created_at", "pk")
        .values_list("run_id", "cause")
    )
    return {pk: ROOT_CAUSE[cause] for pk, cause in rows if cause in ROOT_CAUSE}


def mentions_of(*, reader: Reader, limit: int = 100) -> list[Mention]:
    """Where a person is mentioned in a project, in what they may read: what they have not read
    first, of each the latest first.
    """
    rows = _mentions(reader).select_related(
        "annotation__run", "annotation__incident", "annotation__author"
    )
    rows = rows.prefetch_related("annotation__versions").annotate(unread=Q(read_at=None))
    return list(rows.order_by("-unread", "-annotation__created_at", "-pk")[:limit])


def mentions_unread(*, reader: Reader) -> QuerySet[Mention]:
    """Those of these that a person has not read, to be counted; none for who may read no
    transcripts.
    """
    if not reader.may(May.READ_TRANSCRIPTS):
        return Mention.objects.none()
    return _mentions(reader).filter(read_at=None).order_by()


def _mentions(reader: Reader) -> QuerySet[Mention]:
    """As `Reader.may_read` says of runs; for who may read transcripts."""
    readable = Q(annotation__run=None) | Q(annotation__run__text_removed_at=None)
    if not reader.restricted:
        readable &= Q(annotation__run=None) | Q(annotation__run__restricted=False)
    return Mention.objects.filter(
        readable,
        user=reader.user,
        annotation__project=reader.project,
        annotation__removed_at=None,
    )


def _shown() -> QuerySet[Annotation]:
    found = Annotation.objects.filter(removed_at=None).select_related("author")
    return found.prefetch_related("versions")
