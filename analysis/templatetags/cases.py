"""Test cases on the pages of others."""

from __future__ import annotations

from typing import Any

from django import template

from analysis.models import Incident
from analysis.selectors.cases import cases_of_incident, latest_result, may_read_case
from analysis.services.case_incidents import resolve_offer
from transcripts.access import May, Reader

register = template.Library()


@register.inclusion_tag("analysis/_incident_cases.html", takes_context=True)
def incident_cases(context: dict[str, Any], incident: Incident) -> dict[str, Any]:
    """The test cases of an incident, with their latest results and what those speak for."""
    reader: Reader = context["reader"]
    rows = []
    for case in cases_of_incident(incident=incident):
        latest = latest_result(case=case)
        may_read = may_read_case(reader, case)
        offer = resolve_offer(case=case, latest=latest)
        may_resolve = may_read and reader.may(May.TRIAGE)
        rate = f"{latest.passed / latest.runs:.0%}" if latest else ""
        rows.append(
            {
                "case": case,
                "latest": latest,
                "rate": rate,
                "may_read": may_read,
                "offer": offer if may_resolve else None,
            }
        )
    return {
        "rows": rows,
        "reader": reader,
        "may_make": reader.may(May.ENGINEER),
        "request": context["request"],
    }
