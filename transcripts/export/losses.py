"""What of a run a target format cannot hold, in plain words, where the run has any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transcripts.record import Round, RunRecord

_CHECKS: Mapping[str, tuple[str, Callable[[RunRecord], bool]]] = {
    "stops": ("stop reasons and their labels", lambda run: bool(run.rounds)),
    "error_flags": (
        "error flags of tool results",
        lambda run: any(call.is_error is not None for r in run.rounds for call in r.calls),
    ),
    "measures": ("tokens, costs, times and durations", lambda run: any(map(_measured, run.rounds))),
    "reasoning": ("reasoning", lambda run: any(r.reasoning for r in run.rounds)),
    "dropped": (
        "which messages a round no longer read",
        lambda run: any(r.input and (r.input.dropped or r.input.whole) for r in run.rounds[1:]),
    ),
    "inputs": ("what each round read", lambda run: any(r.input for r in run.rounds)),
    "opaque": (
        "parts that nothing understands",
        lambda run: any(r.opaque for r in run.rounds) or any(m.opaque for m in run.messages),
    ),
    "orphans": ("results that answer no call", lambda run: any(r.orphans for r in run.rounds)),
    "gaps": (
        "the numbers of rounds, of which some are missing",
        lambda run: [r.number for r in run.rounds] != list(range(1, len(run.rounds) + 1)),
    ),
    "about": (
        "ticket, agent, versions, limits, labels, ending and notes",
        lambda run: bool(
            run.ticket_id
            or run.agent
            or run.labels
            or run.notes
            or run.ending
            or run.prompt_version
        ),
    ),
}


def losses(run: RunRecord, *kinds: str) -> tuple[str, ...]:
    """Those of `kinds` that the run has, in words."""
    return tuple(words for words, has in (_CHECKS[kind] for kind in kinds) if has(run))


def _measured(round_: Round) -> bool:
    values = (
        round_.tokens_in,
        round_.tokens_out,
        round_.cost,
        round_.started_at,
        round_.duration_ms,
    )
    return any(value is not None for value in values)
