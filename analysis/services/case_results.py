"""Every write of results that come home."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from analysis.cases.parts import storable
from analysis.models import CaseResult, CaseRevision, ResultSource, TestCase
from analysis.services.case_incidents import result_reopens
from analysis.services.case_replays import replays_keep
from transcripts.keys import content_digest
from transcripts.maskers import typed_masker
from transcripts.masking import Masker
from transcripts.masking.types import MaskedText
from transcripts.models import ApiKey

# Failed runs that are kept each by itself; the others are in the counts.
TROUBLES_KEPT = 50
LONGEST_WORDS = 4_000
LARGEST_SEED = 2**63 - 1


@transaction.atomic
def case_result_add(
    *,
    case: TestCase,
    result: Mapping[str, Any],
    content: bytes,
    source: ResultSource,
    api_key: ApiKey | None = None,
) -> tuple[CaseResult, bool]:
    """Keep a result that `read_result` or `read_junit` read of `content`; returns it, and whether
    it is new. Every text is masked first; `MaskingError` where one cannot be.
    """
    digest = content_digest(content, salt=case.pk.to_bytes(16, "big"))
    before = CaseResult.objects.filter(case=case, digest=digest).first()
    if before is not None:
        return before, False
    row = _row(case, storable(dict(result)), typed_masker(case.project))
    row.digest, row.source, row.api_key = digest, source, api_key
    # Two deliveries at once: the constraint lets one through.
    added = CaseResult.objects.bulk_create([row], ignore_conflicts=True)
    kept = CaseResult.objects.get(case=case, digest=digest)
    is_new = bool(added) and kept.received_at == row.received_at
    if is_new:
        replays_keep(result=kept, told=result.get("replays", ()))
        result_reopens(case=case, result=kept)
    return kept, is_new


def _row(case: TestCase, result: Mapping[str, Any], masker: Masker) -> CaseResult:
    text = masker.text
    versions = result.get("versions", {})
    each = result.get("each", [])
    model = versions.get("model") or _models(case, result)
    return CaseResult(
        case=case,
        revision=_revision(case, result.get("case_digest", "")),
        state=result["state"],
        runs=result["runs"],
        passed=result["passed"],
        required=result.get("pass_rate_required") or 1.0,
        prompt_version=text(versions.get("prompt", "")),
        model_version=text(model),
        code_version=text(versions.get("code", "")),
        agent=text(result.get("agent", "")),
        model=text(result.get("model", "")),
        from_round=_number(result.get("from_round")),
        temperature=result.get("temperature"),
        seed=_seed(result.get("seed")),
        seconds=_sum(each, "seconds"),
        cost=_sum(each, "cost"),
        expectations=[_expectation(entry, masker) for entry in result["expectations"]],
        divergence=_divergence(result.get("divergence"), masker),
        troubles=_troubles(result, masker),
        endings=dict(Counter(run["ending"] for run in each)),
        started_at=_moment(result.get("started_at", "")),
    )


def _revision(case: TestCase, digest: str) -> int | None:
    """The latest state of the case with this digest; None for a result of none of ours."""
    found = CaseRevision.objects.filter(case=case, digest=digest).order_by("-number").first()
    return found.number if found and digest else None


def _models(case: TestCase, result: Mapping[str, Any]) -> str:
    """The real models that answered, where the result does not name a version of the model.

    A scripted model answers with the names of the record; they say nothing of a version.
    """
    if not result.get("from_round"):
        return ""
    run = json.loads(case.recording)
    recorded = {run.get("model"), *(entry.get("model") for entry in run["rounds"])}
    answered = {name for each in result.get("each", []) for name in each.get("models", [])}
    return ", ".join(sorted(answered - recorded or answered))[:LONGEST_WORDS]


def _expectation(entry: Mapping[str, Any], masker: Masker) -> dict[str, Any]:
    first = entry.get("first") or {}
    words = {name: _text(entry.get(name, ""), masker) for name in ("id", "kind", "text", "state")}
    counts = {name: entry.get(name, 0) for name in ("runs", "passed", "not_judged")}
    return {**words, **counts, "why": _text(first.get("why", ""), masker)}


def _divergence(told: Mapping[str, Any] | None, masker: Masker) -> dict[str, Any] | None:
    if told is None:
        return None
    words = {name: _text(told[name] or "", masker) for name in ("what", "expected", "got")}
    return {
        **words,
        "run": told.get("run", 1),
        "round": told["round"],
        "nothing": told["got"] is None,
    }


def _troubles(result: Mapping[str, Any], masker: Masker) -> list[dict[str, Any]]:
    """The first runs that failed, each with where it ended and why."""
    if "troubles" in result:
        return [{"run": t["run"], "why": _text(t["why"], masker)} for t in result["troubles"]]
    failed = [run for run in result.get("each", []) if run["state"] == "failed"]
    return [
        {
            "run": run["run"],
            "seed": _seed(run.get("seed")),
            "ending": _text(run["ending"], masker),
            "rounds": run["rounds"],
            "why": _text(run.get("trouble") or run.get("reason") or "", masker),
            "failed": [_text(ident, masker) for ident in run.get("failed", [])],
        }
        for run in failed[:TROUBLES_KEPT]
    ]


def _text(value: str, masker: Masker) -> MaskedText:
    """A masked text, cut where it is longer than anybody reads; what is cut is counted."""
    masked = masker.text(value)
    if len(masked) <= LONGEST_WORDS:
        return masked
    # Cut after masking, so that half a secret never stands there.
    left = len(masked) - LONGEST_WORDS
    return masker.text(f"{masked[:LONGEST_WORDS]}… ({left:,} more characters)")


def _sum(each: Sequence[Mapping[str, Any]], name: str) -> float | None:
    total = math.fsum(run.get(name) or 0 for run in each)
    return total if total and math.isfinite(total) else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and value < 2**31 else None


def _seed(value: Any) -> int | None:
    return value if isinstance(value, int) and abs(value) <= LARGEST_SEED else None


def _moment(value: str) -> datetime | None:
    try:
        moment = parse_datetime(value)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
