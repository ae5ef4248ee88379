"""The list of test cases: what must hold, what came of it last, and over versions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F

from analysis.case_editing.words import expectation_words
from analysis.models import CaseResult, CaseRevision, TestCase
from analysis.pages.case_versions import version_strips
from analysis.selectors.cases import may_read_case
from transcripts.access import Reader

WORDS_SHOWN = 3


@dataclass
class CaseRow:
    """One case as the list shows it. `strip` is (tone, path) in cells across and 0 to 10 down."""

    case: TestCase
    may_read: bool
    holds: list[str]
    more: int
    last: CaseResult | None
    strip: list[tuple[str, str]] = field(default_factory=list)

    @property
    def rate_words(self) -> str:
        return f"{self.last.passed / self.last.runs:.0%}" if self.last else ""


def case_rows(cases: Sequence[TestCase], reader: Reader) -> list[CaseRow]:
    """The rows of a page of cases. Three queries, however many there are."""
    revisions = CaseRevision.objects.filter(case__in=cases, number=F("case__revision"))
    definitions = {each.case_id: json.loads(each.definition) for each in revisions}
    latest = CaseResult.objects.filter(case__in=cases).order_by("case_id", "-received_at", "-pk")
    last = {result.case_id: result for result in latest.distinct("case_id")}
    strips = version_strips(cases)
    rows = []
    for case in cases:
        may_read = may_read_case(reader, case)
        expect = definitions[case.pk]["expect"]
        words = [expectation_words(entry, may_read=may_read) for entry in expect]
        rows.append(
            CaseRow(
                case,
                may_read,
                words[:WORDS_SHOWN],
                max(0, len(words) - WORDS_SHOWN),
                last.get(case.pk),
                strips.get(case.pk, []),
            )
        )
    return rows
