"""What the pages of test cases share."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from analysis.models import TestCase
from analysis.selectors.cases import case_by_number, case_is_restricted, may_read_case
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access


def case_for(reader: Reader, number: int) -> TestCase:
    """A case of the project; 404 for any other."""
    case = case_by_number(project=reader.project, name=str(number))
    if case is None:
        raise Http404("No such test case in this project.")
    return case


def require_case(reader: Reader, case: TestCase) -> None:
    """Raise `PermissionDenied` (403) unless this person may read the case's texts."""
    reader.require(May.READ_TRANSCRIPTS)
    if case_is_restricted(case) and not may_read_case(reader, case):
        raise PermissionDenied("This test case is of a restricted run.")


def note_case(
    request: HttpRequest,
    reader: Reader,
    action: AccessAction,
    case: TestCase,
    **detail: Any,
) -> None:
    """Leave the audit line of who reads, exports or changes a case."""
    note_access(request, reader, action, case.run, {"case": case.name, **detail})
