"""Changes of test cases, taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.cases.harness import CaseError
from analysis.models import CaseResult, TestCase
from analysis.selectors.cases import case_by_number
from analysis.services import cases as services
from transcripts.access import May, Reader
from transcripts.undo import UndoError, undoes

MADE, EDITED, DELETED, ACCEPTED = "case_made", "case_edited", "case_deleted", "case_accepted"


def _case(reader: Reader, before: Mapping[str, Any]) -> TestCase:
    case = case_by_number(project=reader.project, name=str(before["case"]))
    if case is None:
        raise UndoError(f"CASE-{before['case']} is no longer there.")
    return case


@undoes(MADE, may=May.ENGINEER)
def undo_make(reader: Reader, before: Mapping[str, Any]) -> str:
    """`before`: {case}, its number."""
    case = _case(reader, before)
    if case.revision > 1:
        raise UndoError(f"{case} was changed since. Delete it on its page, if it is to go.")
    if CaseResult.objects.filter(case=case).exists():
        raise UndoError(f"{case} has results by now. Delete it on its page, if it is to go.")
    services.case_delete(case=case)
    return f"{case} is not made after all."


@undoes(EDITED, may=May.ENGINEER)
def undo_edit(reader: Reader, before: Mapping[str, Any]) -> str:
    """`before`: {case, revision (to go back to), made (the one that is undone)}."""
    case = _case(reader, before)
    if case.revision != before["made"]:
        raise UndoError(f"{case} was changed again since. Its history has every state.")
    try:
        services.case_return(case=case, number=before["revision"], author=reader.user)
    except CaseError as error:
        raise UndoError(str(error)) from None
    return f"{case} is as it was before."


@undoes(DELETED, may=May.ENGINEER)
def undo_delete(reader: Reader, before: Mapping[str, Any]) -> str:
    """`before`: {case}."""
    try:
        case = services.case_bring_back(project=reader.project, number=before["case"])
    except CaseError as error:
        raise UndoError(f"{error}.") from None
    return f"{case} is back."


@undoes(ACCEPTED, may=May.ENGINEER)
def undo_accept(reader: Reader, before: Mapping[str, Any]) -> str:
    """`before`: {case, result: the id of what was accepted before, or None, after: of what is}."""
    case = _case(reader, before)
    if case.accepted_id != before["after"]:
        raise UndoError(f"Somebody has accepted another version of {case} since.")
    result = CaseResult.objects.filter(case=case, pk=before["result"] or 0).first()
    services.case_accept(case=case, result=result, user=reader.user)
    return f"The accepted version of {case} is as it was before."
