"""What is done to many runs at once: to few of them while one waits, to many by a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict

from analysis.lists.filters import RunFilter
from analysis.lists.matching import runs_matching
from analysis.lists.searching import search_of
from analysis.models import Job, JobKind, JobNote
from analysis.services.keeping import HELD
from analysis.services.run_triage import labels_before, runs_assign, runs_label
from transcripts.access import May, Reader
from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedText
from transcripts.models import Membership, Project, Run, User
from transcripts.queueing import RUN_EMPTY, enqueue
from transcripts.services.removal import HeldError, run_erase

# So many are done at once; more of them by a job, whose steps are as long.
AT_ONCE = 500
STEP = 200
# A file is written while it is sent, hundreds of runs a second; larger ones are asked for in parts.
EXPORTED = 50_000
LONGEST_LABEL = 100


class SelectionError(ValueError):
    """What was asked for cannot be done; the text says why, for people."""


@dataclass(frozen=True)
class Selection:
    """The runs that a person chose: some by id, or all that the list shows."""

    reader: Reader
    pks: tuple[int, ...] = ()
    wanted: RunFilter | None = None

    @classmethod
    def of(cls, form: QueryDict, reader: Reader) -> Selection:
        """From a form: `run` for each, or `all` with the list's query in `list`."""
        if form.get("all"):
            return cls(reader, wanted=RunFilter.of_text(form.get("list", "")))
        pks = {int(pk) for pk in form.getlist("run") if pk.isdecimal() and len(pk) <= 18}
        return cls(reader, tuple(sorted(pks, reverse=True)))

    def runs(self) -> QuerySet[Run]:
        """They themselves, in no order."""
        if self.wanted is None:
            return Run.objects.filter(project=self.reader.project, pk__in=self.pks)
        return listed(project=self.reader.project, wanted=self.wanted, reader=self.reader)

    def job_wanted(self, **asked: Any) -> dict[str, Any]:
        """What a job needs to know to go on with them. Runs that come in later are none of
        them.
        """
        masker = typed_masker(self.reader.project)
        wanted = self.wanted and self.wanted.masked(masker)
        told = {"list": wanted.text} if wanted else {"runs": list(self.pks)}
        newest = self.runs().order_by("-pk").values_list("pk", flat=True).first()
        return {**told, "newest": newest or 0, **asked}


def listed(*, project: Project, wanted: RunFilter, reader: Reader) -> QuerySet[Run]:
    """All runs that a list shows to a reader."""
    runs = runs_matching(project=project, wanted=wanted, reader=reader)
    search = search_of(project=project, wanted=wanted, reader=reader)
    return search.narrow(runs) if search else runs


def label_of(project: Project, text: str) -> tuple[MaskedText, MaskedText]:
    """A label as a person types it, `name=value` or a name alone, masked."""
    name, equals, value = " ".join(text.replace("\0", "").split()).partition("=")
    name, value = name.strip(), value.strip() if equals else "yes"
    if not name or not value:
        raise SelectionError("A label is a name, or name=value.")
    if len(name) + len(value) > LONGEST_LABEL:
        raise SelectionError(f"A label has at most {LONGEST_LABEL} characters.")
    masker = typed_masker(project)
    return masker.text(name), masker.text(value)


def member_of(project: Project, said: str, reader: Reader) -> User | None:
    """The member whom a form names: `me`, an id, or nobody where it is empty."""
    if said in ("", "nobody"):
        return None
    pk = str(reader.user.pk) if said == "me" else said
    members = Membership.objects.filter(project=project, user=int(pk) if pk.isdecimal() else -1)
    member = members.select_related("user").first()
    if member is None:
        raise SelectionError("This person is no member of the project.")
    return member.user


def runs_delete(
    *, project: Project, pks: Sequence[int], user: User | None, request: HttpRequest | None = None
) -> tuple[int, int]:
    """Erase runs with all that hangs on them, each with a line in the audit log; returns how many,
    and how many are on legal hold and stay. What comes of them again is refused.
    """
    gone = held = 0
    for run in Run.objects.filter(project=project, pk__in=pks).order_by("pk"):
        try:
            with transaction.atomic():
                access_record(
                    project=project,
                    action=AccessAction.DELETE,
                    run=run,
                    user=user,
                    request=request,
                    detail={"rounds": run.round_count},
                )
                if not run_erase(pk=run.pk, held=HELD):
                    transaction.set_rollback(True)
                    continue
        except HeldError:
            held += 1
            continue
        gone += 1
        enqueue(RUN_EMPTY, run.pk)
    return gone, held


def bulk_step(job: Job) -> bool:
    """Do what a job is to do to its next runs; returns whether it is done."""
    runs = _runs_of(job).filter(pk__lte=job.wanted["newest"])
    if job.cursor is not None:
        runs = runs.filter(pk__lt=job.cursor)
    pks = list(runs.order_by("-pk").values_list("pk", flat=True)[:STEP])
    if pks:
        job.changed += _DO[job.kind](job, pks)
        job.read += len(pks)
        job.cursor = pks[-1]
    return len(pks) < STEP


def _runs_of(job: Job) -> QuerySet[Run]:
    """The job's runs; none where who started it may not do it any more."""
    reader = may_go_on(job)
    if reader is None:
        return Run.objects.none()
    if "runs" in job.wanted:
        return Run.objects.filter(project=job.project, pk__in=job.wanted["runs"])
    return listed(project=job.project, wanted=RunFilter.of_text(job.wanted["list"]), reader=reader)


def may_go_on(job: Job) -> Reader | None:
    """Who started the job, as a reader of today; None where they may not do it any more."""
    membership = Membership.objects.filter(project=job.project, user=job.user).first()
    if membership is None or job.user is None:
        return None
    reader = Reader(job.project, job.user, membership.role, membership.restricted)
    what = May.ADMINISTER if job.kind == JobKind.DELETE else May.TRIAGE
    return reader if reader.may(what) else None


def _assign(job: Job, pks: list[int]) -> int:
    owner = User.objects.filter(pk=job.wanted["owner"]).first() if job.wanted["owner"] else None
    told = runs_assign(project=job.project, pks=pks, owner=owner)
    JobNote.objects.bulk_create(
        JobNote(job=job, run_id=pk, owner_id=before) for pk, before in told["before"]
    )
    return len(told["before"])


def _label(job: Job, pks: list[int]) -> int:
    label = label_of(job.project, job.wanted["label"])
    put = job.wanted["put"]
    before = labels_before(runs_label(project=job.project, pks=pks, label=label, put=put))
    JobNote.objects.bulk_create(
        JobNote(job=job, run_id=pk, labels=labels) for pk, labels in before.items()
    )
    return len(before)


def _delete(job: Job, pks: list[int]) -> int:
    gone, held = runs_delete(project=job.project, pks=pks, user=job.user)
    job.result = {"held": job.result.get("held", 0) + held}
    return gone


_DO: dict[str, Callable[[Job, list[int]], int]] = {
    JobKind.ASSIGN: _assign,
    JobKind.LABEL: _label,
    JobKind.DELETE: _delete,
}
