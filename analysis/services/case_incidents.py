"""What results of test cases mean for the incidents that the cases were made of.

A failing result takes a resolved incident up again; a passing one of a version offers to resolve
it, which a person does.
"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.models import (
    CaseResult,
    Incident,
    IncidentState,
    ResultState,
    TestCase,
    VersionKind,
)
from analysis.services.incident_states import OPEN_STATES
from analysis.services.incidents import Before, incident_reopen, incident_resolve
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedText
from transcripts.models import User

VERSION = ("prompt_version", "model_version", "code_version")


def result_reopens(*, case: TestCase, result: CaseResult) -> bool:
    """Take the case's resolved incident up again where a new result failed; returns whether it did.

    Not for a state of the case that is none of ours, nor for a version that failed before the
    incident was resolved: that it fails is known.
    """
    incident = case.incident
    if incident is None or incident.state != IncidentState.RESOLVED:
        return False
    if result.state != ResultState.FAILED or result.revision != case.revision:
        return False
    version = {name: getattr(result, name) for name in VERSION}
    earlier = CaseResult.objects.filter(case=case, state=ResultState.FAILED, **version)
    if any(version.values()) and earlier.filter(received_at__lt=incident.resolved_at).exists():
        return False
    return incident_reopen(incident=incident, case=_name(case)) is not None


@dataclass(frozen=True)
class Offer:
    """A passing result that speaks for resolving an open incident, in the version that it says."""

    case: TestCase
    incident: Incident
    result: CaseResult
    kind: VersionKind
    version: MaskedText


def resolve_offer(*, case: TestCase, latest: CaseResult | None) -> Offer | None:
    """The offer that the latest result makes; None where it failed, is of another state of the
    case, or came in before the incident was last opened.
    """
    incident = case.incident
    if incident is None or latest is None or incident.state not in OPEN_STATES:
        return None
    passed = latest.state == ResultState.PASSED and latest.revision == case.revision
    if not passed or latest.received_at < incident.state_at:
        return None
    if latest.code_version:
        return Offer(case, incident, latest, VersionKind.CODE, latest.code_version)
    return Offer(case, incident, latest, VersionKind.PROMPT, latest.prompt_version)


def offer_take(*, offer: Offer, user: User) -> Before | None:
    """Resolve the incident in the version that passed; returns what takes it back."""
    return incident_resolve(
        incident=offer.incident,
        version=offer.version or None,
        kind=offer.kind,
        user=user,
        case=_name(offer.case),
    )


def _name(case: TestCase) -> MaskedText:
    return typed_masker(case.project).text(case.name)
