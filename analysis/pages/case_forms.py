"""What the pages that make and edit cases show beside their rows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from analysis.case_editing.editor import CaseEditor
from analysis.cases.case import readable
from analysis.cases.suggest import Suggestion, suggest
from analysis.detectors.base import Finding
from analysis.models import Incident, TestCase
from analysis.selectors.cases import definition_of
from analysis.services.verdicts import applied_limits
from analysis.suite import analyse
from transcripts.importers import UnreadableError, read_runs
from transcripts.masking.types import MaskedRun
from transcripts.models import Run
from transcripts.record import RunRecord

# Findings that say that what the tool really answered never reached the model.
SWALLOWED = ("empty_result", "hidden_error", "ok_without_proof")


def editor_for_run(run: Run, masked: MaskedRun, incident: Incident | None) -> CaseEditor:
    """The page for a new case of a run: suggestions of its findings, mocks that may be wanted."""
    record = masked.record
    findings = analyse(record, applied_limits(run=run, currency=record.currency).limits).findings
    definition = {"title": record.title, "incident": incident.name if incident else ""}
    return CaseEditor.of(definition, suggest(record, findings), mock_offers(findings), choose=True)


def editor_for_case(case: TestCase) -> CaseEditor:
    """The page of a case as it is, with what else may be expected of its recording."""
    suggestions: tuple[Suggestion, ...] = ()
    offers: list[dict[str, Any]] = []
    record = recorded(case)
    if record is not None:
        findings = analyse(record).findings
        suggestions, offers = suggest(record, findings), mock_offers(findings)
    return CaseEditor.of(definition_of(case), suggestions, offers)


def recorded(case: TestCase) -> RunRecord | None:
    """The recording as a run; None where it is none that the importer reads."""
    try:
        found = next(iter(read_runs(case.recording.encode(), format="native")), None)
    except UnreadableError:
        return None
    return found if isinstance(found, RunRecord) else None


def mock_offers(findings: tuple[Finding, ...]) -> list[dict[str, Any]]:
    """A mock for each tool whose answer was swallowed: what does the service really say?"""
    offers: dict[str, dict[str, Any]] = {}
    for finding in findings:
        if finding.tool and finding.detector in SWALLOWED:
            why = finding.why.rstrip(".")
            note = f"Round {finding.round}: {why}. What does the service below it say?"
            offers.setdefault(finding.tool, {"tool": finding.tool, "answer": "error", "note": note})
    return list(offers.values())


def tool_names(run: Mapping[str, Any]) -> list[str]:
    """The tools of a recording, declared or called, by name."""
    called = {call["name"] for entry in run["rounds"] for call in entry.get("calls") or ()}
    return sorted(called | {tool["name"] for tool in run.get("tools") or ()})


def definition_text(definition: Mapping[str, Any]) -> str:
    """A definition as the file has it, without the recording."""
    return readable(dict(definition))


def definition_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(mark, line) of what changed, with three lines around each; the mark is "+", "-" or " "."""
    old, new = (definition_text(each).splitlines() for each in (before, now))
    changes = difflib.unified_diff(old, new, lineterm="", n=3)
    return [(line[0], line[1:]) for line in changes if line[:3] not in ("---", "+++")]
