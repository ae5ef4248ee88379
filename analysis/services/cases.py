"""Every write of test cases: made of runs, taken in from files, changed, deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from analysis.cases.case import check, listed, missing_for_replay, read_case
from analysis.cases.harness import SCHEMA, CaseError
from analysis.cases.parts import case_digest, storable, written_part
from analysis.models import CaseResult, CaseRevision, Incident, TestCase
from analysis.selectors.cases import NUMBER, case_head, living_cases
from transcripts.export.native import native_text
from transcripts.keys import run_digest
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedRun, MaskedText, derived_text
from transcripts.models import Project, Run, User
from transcripts.services.run_header import labels_restrict

# A deleted case can be brought back for so long.
KEPT_DELETED = timedelta(days=1)
LARGEST_FILE = 8 * 2**20
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")


@transaction.atomic
def case_make(
    *,
    run: Run,
    masked: MaskedRun,
    definition: Mapping[str, Any],
    author: User | None = None,
    incident: Incident | None = None,
) -> TestCase:
    """Make a case of a stored run and what must hold (`parts.WRITTEN`).

    Raises `CaseError` where the run cannot be replayed, or the definition does not fit.
    """
    missing = missing_for_replay(masked.record)
    if missing:
        raise CaseError(f"the run is too incomplete to replay: {listed(missing)}")
    number = next_number(run.project)
    case = TestCase(
        project=run.project,
        number=number,
        key=typed_masker(run.project).text(f"CASE-{number}"),
        agent=run.agent,
        schema=SCHEMA,
        recording=derived_text(native_text(masked.record), masked),
        rounds=len(masked.record.rounds),
        mask_rule_set=masked.receipt.rule_set,
        mask_hits=dict(masked.receipt.hits),
        run=run,
        restricted=run.restricted,
        incident=incident,
        author=author,
    )
    return _first_revision(case, definition)


@transaction.atomic
def case_take_in(
    *, project: Project, content: bytes, author: User | None = None
) -> tuple[TestCase, bool]:
    """Take in a case file from anywhere; returns the case and whether it is a new one.

    It is data: checked, masked and kept, and nothing in it is run. Where its `case_id` is that of a
    case of the project with the very same recording, it is a new revision of that. Raises
    `CaseError` that says where.
    """
    if len(content) > LARGEST_FILE:
        raise CaseError(f"larger than {LARGEST_FILE // 2**20} MB")
    document = plain = storable(read_case(content))
    masker = typed_masker(project)
    document = json.loads(masker.json_text(_json(document)))
    check(document)
    # Masked already; the second pass is what says so of each part.
    recording = masker.json_text(_json(document["run"]))
    definition = written_part(document)
    known = living_cases(project=project).filter(key=document["case_id"]).first()
    if known is not None and json.loads(known.recording) == document["run"]:
        return case_edit(case=known, definition=definition, author=author), False
    number = next_number(project)
    case = TestCase(
        project=project,
        number=number,
        key=masker.text(_free_key(project, document["case_id"]) or f"CASE-{number}"),
        agent=masker.text(document.get("agent") or document["run"].get("agent") or ""),
        schema=SCHEMA,
        recording=recording,
        rounds=len(document["run"]["rounds"]),
        mask_rule_set=masker.receipt.rule_set,
        mask_hits=document.get("masked", {}).get("hits", {}),
        restricted=_is_restricted(project, plain),
        author=author,
    )
    return _first_revision(case, definition), True


def _is_restricted(project: Project, document: Mapping[str, Any]) -> bool:
    """Whether a case from a file is of a run that only named readers may read, as its labels say,
    or as is known here of the run or of another case of it.
    """
    run = document["run"]
    if labels_restrict({str(name): str(value) for name, value in run.get("labels", {}).items()}):
        return True
    named = {str(name) for name in (document.get("from_run"), run.get("run_id")) if name}
    digests = [run_digest(project.pk, name) for name in named]
    runs = Run.objects.filter(project=project, restricted=True)
    if runs.filter(Q(digest__in=digests) | Q(run_id__in=named)).exists():
        return True
    cases = TestCase.objects.filter(project=project, restricted=True)
    return cases.filter(key=document["case_id"]).exists()


@transaction.atomic
def case_edit(
    *,
    case: TestCase,
    definition: Mapping[str, Any],
    author: User | None = None,
    incident: Incident | None = None,
) -> TestCase:
    """Give a case another definition: a new revision, unless it says the same as the latest.

    `incident` links one; None leaves what is linked. Raises `CaseError` that says where.
    """
    case = TestCase.objects.select_for_update().get(pk=case.pk)
    if incident is not None:
        case.incident = incident
    _revise(case, definition, author, case.revision + 1)
    case.save()
    return case


def case_return(*, case: TestCase, number: int, author: User | None = None) -> TestCase:
    """Make a state of before the latest again, as a new revision. Raises `CaseError`."""
    revision = CaseRevision.objects.filter(case=case, number=number).first()
    if revision is None:
        raise CaseError(f"{case} has no revision {number}")
    return case_edit(case=case, definition=json.loads(revision.definition), author=author)


def case_accept(*, case: TestCase, result: CaseResult | None, user: User | None) -> None:
    """Accept the version of a result, which later ones are compared with; None: no version."""
    if result is not None and result.case_id != case.pk:
        raise CaseError("that result is of another case")
    case.accepted = result
    case.accepted_at = timezone.now() if result else None
    case.accepted_by = user if result else None
    case.save(update_fields=["accepted", "accepted_at", "accepted_by"])


def case_delete(*, case: TestCase) -> None:
    """Delete a case; for a day it can be brought back."""
    case.deleted_at = timezone.now()
    case.save(update_fields=["deleted_at"])


def case_bring_back(*, project: Project, number: int) -> TestCase:
    """Bring a deleted case back. Raises `CaseError` where its texts are gone."""
    case = TestCase.objects.filter(project=project, number=number).first()
    if case is None or not case.recording:
        raise CaseError(f"CASE-{number} is gone for good")
    case.deleted_at = None
    case.save(update_fields=["deleted_at"])
    return case


def cases_forget(*, now: bool = False) -> int:
    """Empty the cases that were deleted a day ago (`now`: all deleted ones); returns how many.

    Their numbers stay taken, so that a late result cannot become another case's.
    """
    gone = TestCase.objects.exclude(deleted_at=None).exclude(recording="")
    if not now:
        gone = gone.filter(deleted_at__lt=timezone.now() - KEPT_DELETED)
    count = 0
    for pk in gone.values_list("pk", flat=True):
        count += _case_empty(pk)
    return count


def cases_erase(*, run_pk: int) -> int:
    """Delete the cases that were made of a run, with their texts and for good; returns how many."""
    made_of_it = TestCase.objects.filter(run=run_pk)
    made_of_it.filter(deleted_at=None).update(deleted_at=timezone.now())
    return sum(_case_empty(pk) for pk in made_of_it.values_list("pk", flat=True))


@transaction.atomic
def _case_empty(pk: int) -> int:
    CaseRevision.objects.filter(case=pk).delete()
    CaseResult.objects.filter(case=pk).delete()
    return TestCase.objects.filter(pk=pk).update(
        recording="", title="", agent="", run=None, incident=None, mask_hits={}
    )


def next_number(project: Project) -> int:
    """The next number of a case in the project; whoever has it holds the project's row."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    found = TestCase.objects.filter(project=project).aggregate(last=Max("number"))
    return (found["last"] or 0) + 1


def _free_key(project: Project, wanted: str) -> str:
    """The file's own id, where it may be the case's: not one of our numbers, and not taken."""
    taken = NUMBER.fullmatch(wanted) or not KEY.fullmatch(wanted)
    if taken or TestCase.objects.filter(project=project, key=wanted).exists():
        return ""
    return wanted


def _first_revision(case: TestCase, definition: Mapping[str, Any]) -> TestCase:
    written = _written(case, definition)
    case.title = typed_masker(case.project).text(written[1].get("title", ""))
    case.save()
    _keep(case, written, case.author, 1)
    return case


def _revise(
    case: TestCase, definition: Mapping[str, Any], author: User | None, number: int
) -> None:
    written = _written(case, definition)
    latest = CaseRevision.objects.get(case=case, number=case.revision)
    if json.loads(latest.definition) == written[1]:
        return
    case.revision = number
    case.title = typed_masker(case.project).text(written[1].get("title", ""))
    _keep(case, written, author, number)


def _written(case: TestCase, definition: Mapping[str, Any]) -> tuple[MaskedText, dict[str, Any]]:
    """The definition masked, as text and as read again. Raises `CaseError` where it does not fit,
    before masking or after.
    """
    head = case_head(case)
    part = written_part(storable(dict(definition)))
    check({**head, **part})
    text = typed_masker(case.project).json_text(_json(part))
    masked = json.loads(text)
    check({**head, **masked})
    return text, masked


def _keep(
    case: TestCase,
    written: tuple[MaskedText, dict[str, Any]],
    author: User | None,
    number: int,
) -> None:
    text, definition = written
    digest = case_digest({**case_head(case), **definition})
    CaseRevision.objects.create(
        case=case, number=number, definition=text, digest=digest, author=author
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
