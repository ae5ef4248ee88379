"""Every write of what the replays of a case said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.models import CaseReplay, CaseResult
from analysis.services.case_masking import case_masker
from transcripts.export.native import native_text
from transcripts.masking.types import derived_text

# Results of a case that keep their transcripts; the accepted one keeps them besides.
RESULTS_WITH_REPLAYS = 20


def replays_keep(*, result: CaseResult, told: Sequence[Mapping[str, Any]]) -> None:
    """Keep what the replays of a new result said, as `read_replays` read it; those of the oldest
    results of the case go. Every text is masked first; `MaskingError` where one cannot be.
    """
    if not told:
        return
    CaseReplay.objects.bulk_create(_row(result, replay) for replay in told)
    case = result.case
    newest = CaseResult.objects.filter(case=case).exclude(replays=None).distinct()
    kept = newest.order_by("-received_at", "-pk").values_list("pk", flat=True)
    staying = [*kept[:RESULTS_WITH_REPLAYS], case.accepted_id]
    CaseReplay.objects.filter(result__case=case).exclude(result__in=filter(None, staying)).delete()


def _row(result: CaseResult, replay: Mapping[str, Any]) -> CaseReplay:
    row = CaseReplay(result=result, run=replay["run"], state=replay["state"])
    if "record" in replay:
        masked = case_masker(result.case).run(replay["record"])
        row.transcript = derived_text(native_text(masked.record), masked)
        row.rounds = len(masked.record.rounds)
    else:
        row.left_out = replay["left_out"]
    return row
