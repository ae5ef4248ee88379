"""What of a run a target format cannot hold, in plain words, where the run has any of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transcripts.record import Ending, Message, Round, RunLimits, RunRecord

# A request repeats all before it, so what each round read grows with the square of the rounds.
# Formats that write it out do so up to this many characters in all.
MAX_INPUT = 64 * 1024**2
# Labels that OpenTelemetry has attributes for.
TOLD_LABELS = frozenset({"user", "environment", "service", "conversation"})

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
    "plain_stops": (
        "stop reasons that a round has without the service's own label",
        lambda run: any(r.stop_raw is None for r in run.rounds),
    ),
    "cost": (
        "costs in a currency other than US dollars",
        lambda run: run.currency not in ("", "USD") and any(r.cost is not None for r in run.rounds),
    ),
    "times": (
        "times and durations, where a round does not say when it began",
        lambda run: not has_times(run) and any(r.started_at or r.duration_ms for r in run.rounds),
    ),
    "no_flag": (
        "that a tool with a duration says nothing of whether it failed (it reads as not failed)",
        lambda run: any(
            call.is_error is None and call.duration_ms is not None
            for r in run.rounds
            for call in r.calls
        ),
    ),
    "details": (
        "title, prompt version, limits, context window, other labels, how the run ended unless by "
        "an error, and notes",
        lambda run: bool(
            run.title
            or run.prompt_version
            or run.context_window
            or run.limits != RunLimits()
            or run.labels.keys() - TOLD_LABELS
            or run.ending not in (None, Ending.ERROR)
            or run.notes
        ),
    ),
    "message_names": (
        "names of those who wrote messages",
        lambda run: any(message.name for message in run.messages),
    ),
    "call_ids": (
        "that a call has no id (it gets one)",
        lambda run: any(not call.id for r in run.rounds for call in r.calls),
    ),
    "links": (
        "links to runs within this one and around it",
        lambda run: (
            bool(run.parent_run_id) or any(call.sub_run for r in run.rounds for call in r.calls)
        ),
    ),
    "long_inputs": (
        f"what each round read, beyond {MAX_INPUT // 1024**2} MB of it: later rounds go without",
        lambda run: input_size(run) > MAX_INPUT,
    ),
}


def has_times(run: RunRecord) -> bool:
    """Whether every round says when it began, none before the one before it."""
    starts = [round_.started_at for round_ in run.rounds]
    known = [start for start in starts if start is not None]
    return len(known) == len(starts) and known == sorted(known)


def input_size(run: RunRecord) -> int:
    """Characters of what all rounds read together, about; counted without writing it out."""
    by_key = run.message_by_key
    total = now = 0
    for round_ in run.rounds:
        change = round_.input
        if change is None:
            continue
        now = 0 if change.whole else now
        for sign, placed_here in ((1, change.added), (-1, change.dropped)):
            known = (by_key[placed.key] for placed in placed_here if placed.key in by_key)
            now += sign * sum(_size(message, run) for message in known)
        total += max(now, 0)
    return total


def _size(message: Message, run: RunRecord) -> int:
    size = len(message.content) + sum(len(part.body) for part in message.opaque)
    if message.reply_of is not None and (of := run.round_by_number.get(message.reply_of)):
        size += len(of.reply) + sum(len(call.args) for call in of.calls)
    if message.result_of is not None and (of := run.round_by_number.get(message.result_of[0])):
        size += sum(len(call.result or "") for call in of.calls[message.result_of[1] :][:1])
    return size


def loss_words(*kinds: str) -> tuple[str, ...]:
    """The words of `kinds`."""
    return tuple(_CHECKS[kind][0] for kind in kinds)


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
