"""Reads of test cases: one, many, and the documents that leave the server."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from django.db.models import F, QuerySet

from analysis.models import CaseReplay, CaseResult, CaseRevision, Incident, IncidentRun, TestCase
from transcripts.access import May, Reader
from transcripts.importers.native_run import read_run
from transcripts.models import Project, Run
from transcripts.record import RunRecord

# "CASE-7", "case-7" or "7".
NUMBER = re.compile(r"(?:CASE-)?([1-9]\d{0,8})", re.IGNORECASE)
INCIDENT = re.compile(r"(?:INC-)?([1-9]\d{0,8})", re.IGNORECASE)


def living_cases(*, project: Project) -> QuerySet[TestCase]:
    """The project's cases that are not deleted, newest first."""
    return TestCase.objects.filter(project=project, deleted_at=None).order_by("-number")


def case_list(*, project: Project, agent: str = "", **related: Any) -> QuerySet[TestCase]:
    """The same without recordings; of one agent where it is given, and of what `related` says."""
    found = living_cases(project=project).filter(**related).defer("recording")
    if agent:
        found = found.filter(agent=agent)
    return found.select_related("run", "incident", "author", "accepted")


def case_by_name(*, project: Project, name: str) -> TestCase | None:
    """The case that is called so: by its number, "CASE-7" or "7", or by the id in its file."""
    if "\0" in name:
        return None
    cases = living_cases(project=project).select_related("run", "incident", "accepted", "project")
    return cases.filter(key=name).first() or case_by_number(project=project, name=name)


def case_by_number(*, project: Project, name: str) -> TestCase | None:
    match = NUMBER.fullmatch(name)
    if match is None:
        return None
    cases = living_cases(project=project).select_related("run", "incident", "accepted", "project")
    return cases.filter(number=int(match[1])).first()


def case_was_deleted(*, project: Project, number: int) -> bool:
    deleted = TestCase.objects.filter(project=project, number=number).exclude(deleted_at=None)
    return number < 2**31 and deleted.exists()


def case_agents(*, project: Project) -> list[str]:
    """The agents that have cases, by name."""
    names = living_cases(project=project).order_by("agent").values_list("agent", flat=True)
    return list(names.distinct())


def cases_of_run(*, run: Run) -> list[TestCase]:
    """The cases that were made of a run, the oldest first."""
    return list(case_list(project=run.project, run=run).order_by("number"))


def cases_of_incident(*, incident: Incident) -> list[TestCase]:
    return list(case_list(project=incident.project, incident=incident).order_by("number"))


def latest_result(*, case: TestCase) -> CaseResult | None:
    """What came in last of a case."""
    return CaseResult.objects.filter(case=case).order_by("-received_at", "-pk").first()


def case_replays(*, case: TestCase, limit: int) -> list[CaseReplay]:
    """What replays of a case said, those of the latest result first; without the transcripts."""
    found = CaseReplay.objects.filter(result__case=case).defer("transcript")
    ordered = found.select_related("result").order_by("-result__received_at", "-result", "run")
    return list(ordered[:limit])


def replays_of_run(*, run: Run, limit: int) -> list[CaseReplay]:
    """What replays of the cases made of a run said, the latest result first."""
    living = CaseReplay.objects.filter(result__case__run=run, result__case__deleted_at=None)
    found = living.exclude(transcript="").defer("transcript", "result__case__recording")
    ordered = found.select_related("result__case")
    return list(ordered.order_by("-result__received_at", "-result", "run")[:limit])


def recorded_run(*, case: TestCase) -> RunRecord:
    """The run that a case was made of, as it was then."""
    return read_run(json.loads(case.recording), case.name)


def replayed_run(*, replay: CaseReplay) -> RunRecord:
    """What a replay said, as a run."""
    return read_run(json.loads(replay.transcript), "replay")


def case_revisions(*, case: TestCase) -> list[CaseRevision]:
    """All states of a case, the latest first."""
    revisions = CaseRevision.objects.filter(case=case).select_related("author")
    return list(revisions.order_by("-number"))


def incidents_of_run(*, run: Run) -> list[Incident]:
    """The incidents that a run belongs to, what it is mainly about first."""
    links = IncidentRun.objects.filter(run=run, incident__merged_into=None)
    ordered = links.select_related("incident").order_by("-main", "incident")
    return list({link.incident_id: link.incident for link in ordered}.values())


def incident_named(*, project: Project, name: str) -> Incident | None:
    """The incident "INC-3" of the project; the one that took it over where it was merged."""
    match = INCIDENT.fullmatch(name.strip())
    if match is None:
        return None
    found = Incident.objects.filter(project=project, number=int(match[1]))
    incident = found.select_related("merged_into").first()
    return incident.merged_into or incident if incident else None


def case_is_restricted(case: TestCase) -> bool:
    """Whether only named readers may read it: its run was so when it was made, or is so now."""
    return case.restricted or (case.run is not None and case.run.restricted)


def may_read_case(reader: Reader, case: TestCase) -> bool:
    """Whether a person may read the texts of a case, which are those of a transcript."""
    return reader.may(May.READ_TRANSCRIPTS) and (reader.restricted or not case_is_restricted(case))


def revision_of(case: TestCase, number: int | None = None) -> CaseRevision | None:
    """One state of a case, by default the latest."""
    revisions = CaseRevision.objects.select_related("author")
    return revisions.filter(case=case, number=number or case.revision).first()


def definition_of(case: TestCase, number: int | None = None) -> dict[str, Any]:
    """What people wrote of a case (`analysis.cases.parts.WRITTEN`); empty of no revision of it."""
    revision = revision_of(case, number)
    return json.loads(revision.definition) if revision else {}


def case_document(case: TestCase, number: int | None = None) -> dict[str, Any]:
    """The whole case, `agentdesk.case/1`, as it leaves the server."""
    return {**case_head(case), **definition_of(case, number)}


def case_documents(cases: Sequence[TestCase]) -> list[dict[str, Any]]:
    """The whole cases of a suite, in the order of their numbers. Two queries."""
    recordings = dict(
        TestCase.objects.filter(pk__in=[case.pk for case in cases]).values_list("pk", "recording")
    )
    revisions = CaseRevision.objects.filter(case__in=cases, number=F("case__revision"))
    definitions = {each.case_id: json.loads(each.definition) for each in revisions}
    documents = []
    for case in sorted(cases, key=lambda case: case.number):
        case.recording = recordings[case.pk]
        documents.append({**case_head(case), **definitions[case.pk]})
    return documents


def case_head(case: TestCase) -> dict[str, Any]:
    """What of a case nobody edits, the recording with it."""
    run = json.loads(case.recording)
    head: dict[str, Any] = {"schema": case.schema, "case_id": case.key}
    if case.agent:
        head["agent"] = case.agent
    if run.get("run_id"):
        head["from_run"] = run["run_id"]
    head["made_at"] = case.made_at.astimezone(UTC).isoformat(timespec="seconds")
    if case.mask_rule_set:
        head["masked"] = {"rule_set": case.mask_rule_set, "hits": case.mask_hits}
    return {**head, "run": run}
