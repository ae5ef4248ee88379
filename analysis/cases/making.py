"""From a masked run to a test case that nobody has edited, with no server: `./desk case FILE`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from analysis.cases.case import case_from_run
from analysis.cases.suggest import Suggestion, chosen, suggest
from analysis.detectors.limits import DEFAULT, Limits
from analysis.suite import analyse
from transcripts.masking.types import MaskedRun


def suggestions_for(run: MaskedRun, limits: Limits = DEFAULT) -> tuple[Suggestion, ...]:
    """All that may be expected of a replay of `run`, with what its findings ask for chosen."""
    return suggest(run.record, analyse(run.record, limits).findings)


def suggested_case(
    run: MaskedRun,
    *,
    case_id: str = "",
    incident: str = "",
    limits: Limits = DEFAULT,
    made_at: datetime | None = None,
) -> dict[str, Any]:
    """A case with the chosen suggestions. Raises CaseError where the run cannot be replayed."""
    return case_from_run(
        run,
        case_id=case_id or case_id_of(run.record.run_id),
        expect=chosen(suggestions_for(run, limits)),
        incident=incident,
        made_at=made_at,
    )


def case_id_of(run_id: str) -> str:
    """A run's id in the characters that a case's may have."""
    return re.sub("[^A-Za-z0-9._:-]", "-", run_id).lstrip("._:-")[:200] or "case"
