"""Cases masked again under a rule that the project made later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analysis.cases.parts import case_digest
from analysis.models import CaseResult, CaseRevision, TestCase
from analysis.selectors.cases import case_document
from analysis.services import case_masking
from analysis.services.case_masking import cases_mask_again
from tests.analysis.case_pages.made import a_kept_result, a_test_case, the_vpn_story_run
from tests.factories import a_project
from transcripts.maskers import typed_masker
from transcripts.masking import own_rule
from transcripts.models import Run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("run_is_there", [True, False])
def test_what_a_later_rule_finds_is_masked_in_all_of_a_case(
    monkeypatch: pytest.MonkeyPatch, run_is_there: bool
) -> None:
    run = the_vpn_story_run(a_project("helpdesk"))
    case = a_test_case(run, title="HD-5127 again")
    a_kept_result(case, agent="loop of HD-5127")
    if not run_is_there:
        run.delete()
    rule = own_rule("tickets", r"HD-\d{4}", "ticket")

    def with_rule(project: Any, *_: Run) -> Any:
        return typed_masker(project, also=rule)

    monkeypatch.setattr(case_masking, "run_masker", with_rule)
    monkeypatch.setattr(case_masking, "typed_masker", with_rule)

    assert cases_mask_again(project=case.project) == 1
    assert cases_mask_again(project=case.project) == 0

    case = TestCase.objects.get()
    result = CaseResult.objects.get()
    told = json.dumps([case_document(case), case.title, result.agent, result.expectations])
    assert "HD-5127" not in told
    assert "ticket" in case.title
    assert CaseRevision.objects.get().digest == case_digest(case_document(case))
