"""Test cases masked once more, when what a project masks has changed."""

from __future__ import annotations

import json
from typing import Any

from django.db import transaction

from analysis.cases.parts import case_digest
from analysis.models import CaseReplay, CaseResult, CaseRevision, TestCase
from analysis.selectors.cases import case_head
from transcripts.maskers import run_masker, typed_masker
from transcripts.masking import Masker
from transcripts.masking.types import MaskedText
from transcripts.models import Project

RESULT_TEXTS = ("prompt_version", "model_version", "code_version", "agent", "model")
RESULT_VALUES = ("expectations", "divergence", "troubles")


def case_masker(case: TestCase) -> Masker:
    """The masker of a case's transcripts: a secret has one placeholder in a run, in the case that
    was made of it, and in the replays of that.
    """
    return run_masker(case.project, case.run) if case.run else typed_masker(case.project)


def cases_mask_again(*, project: Project) -> int:
    """Mask all texts of the project's cases under its rules of now; returns how many cases changed.

    Each is done in a transaction of its own. Raises `MaskingError` for a text that cannot be.
    """
    pks = TestCase.objects.filter(project=project).exclude(recording="").order_by("pk")
    return sum(_case_mask_again(pk) for pk in pks.values_list("pk", flat=True))


@transaction.atomic
def _case_mask_again(pk: int) -> bool:
    case = TestCase.objects.select_for_update().get(pk=pk)
    masker = case_masker(case)
    before = (case.recording, case.title, case.agent)
    case.recording = masker.json_text(_plain(case.recording))
    case.title, case.agent = masker.text(_plain(case.title)), masker.text(_plain(case.agent))
    changed = before != (case.recording, case.title, case.agent)
    for revision in CaseRevision.objects.filter(case=case):
        definition = masker.json_text(_plain(revision.definition))
        if changed or definition != revision.definition:
            revision.definition = definition
            revision.digest = case_digest({**case_head(case), **json.loads(definition)})
            revision.save(update_fields=["definition", "digest"])
            changed = True
    for result in CaseResult.objects.filter(case=case):
        changed |= _result_mask_again(result, masker)
    for replay in CaseReplay.objects.filter(result__case=case).exclude(transcript=""):
        transcript = masker.json_text(_plain(replay.transcript))
        if transcript != replay.transcript:
            replay.transcript = transcript
            replay.save(update_fields=["transcript"])
            changed = True
    case.mask_rule_set = masker.receipt.rule_set
    case.save()
    return changed


def _result_mask_again(result: CaseResult, masker: Masker) -> bool:
    news: dict[str, Any] = {n: masker.text(_plain(getattr(result, n))) for n in RESULT_TEXTS}
    news |= {name: _again(getattr(result, name), masker) for name in RESULT_VALUES}
    changed = {name: value for name, value in news.items() if value != getattr(result, name)}
    for name, value in changed.items():
        setattr(result, name, value)
    if changed:
        result.save(update_fields=list(changed))
    return bool(changed)


def _again(value: Any, masker: Masker) -> Any:
    if isinstance(value, str):
        return masker.text(_plain(value))
    if isinstance(value, dict):
        return {name: _again(child, masker) for name, child in value.items()}
    if isinstance(value, list):
        return [_again(child, masker) for child in value]
    return value


def _plain(text: MaskedText | str) -> str:
    """The same as a plain string, which maskers do not take for done."""
    return str.__str__(text)
