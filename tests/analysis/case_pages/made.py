"""Stored cases for tests, and results of them."""

from __future__ import annotations

import itertools
import json
from typing import Any

from analysis.cases.harness import replay
from analysis.cases.result import read_result
from analysis.models import CaseResult, ResultSource, TestCase
from analysis.selectors.cases import case_document
from analysis.services.case_results import case_result_add
from analysis.services.cases import case_make
from tests.analysis.cases import vpn
from tests.page_runs import a_shown_run
from transcripts.models import Project, Run, User
from transcripts.selectors.record import run_record

_seconds = itertools.count(1)
VPN = {"title": "VPN drops", "expect": vpn.EXPECT, "mocks": vpn.MOCKS, "branches": vpn.BRANCHES}


def the_vpn_story_run(project: Project | None = None) -> Run:
    """The run of docs/vpn-story.md, stored and read."""
    return a_shown_run(vpn.recorded_run(), project)


def a_test_case(run: Run | None = None, author: User | None = None, **definition: Any) -> TestCase:
    """The case of the VPN story, with other entries where they are given."""
    run = run or the_vpn_story_run()
    return case_make(
        run=run, masked=run_record(run=run), definition={**VPN, **definition}, author=author
    )


def a_result_of(case: TestCase, passed: int, runs: int, **fields: Any) -> dict[str, Any]:
    """A result document with so many passed runs; each is another one."""
    document = case_document(case)
    told = replay(document, vpn.new_agent)
    one = told["each"][0]
    return {
        **told,
        "state": "passed" if passed == runs else "failed",
        "runs": runs,
        "passed": passed,
        "each": [
            {**one, "run": n, "state": "passed" if n <= passed else "failed"}
            for n in range(1, runs + 1)
        ],
        "expectations": [
            {
                **entry,
                "runs": runs,
                "passed": passed,
                "state": "passed" if passed == runs else "failed",
            }
            for entry in told["expectations"]
        ],
        "started_at": f"2026-11-30T10:{next(_seconds) % 60:02}:00Z",
        **fields,
    }


def a_kept_result(
    case: TestCase,
    passed: int = 1,
    runs: int = 1,
    *,
    code: str = "",
    prompt: str = "",
    model: str = "",
    **fields: Any,
) -> CaseResult:
    """A result that came home, of a version."""
    versions = {"code": code, "prompt": prompt, "model": model}
    content = json.dumps(a_result_of(case, passed, runs, versions=versions, **fields)).encode()
    kept, _ = case_result_add(
        case=case, result=read_result(content), content=content, source=ResultSource.HARNESS
    )
    return kept
