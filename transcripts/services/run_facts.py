"""What is derived from a run's first and last rounds as they stand: heading, ticket, ending."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Q

from transcripts.choices import Ending, InputKind
from transcripts.endings import ticket_keys, with_ending
from transcripts.masking.types import MaskedRun, MaskReceipt, derived_text
from transcripts.models import Message, Round, Run, ToolCall
from transcripts.record import Call, InputChange, Placed, RunRecord, Stop
from transcripts.record import Message as RecordMessage
from transcripts.record import Round as RecordRound
from transcripts.services.content import Arrived
from transcripts.services.inputs import StoredInput

# Goal and ticket stand at the head of what the model reads first.
FIRST_MESSAGES = 50


def derive_ending(*, run: Run, arrived: Arrived | None) -> None:
    """The ending as the last rounds have it, where the sender did not say; the caller saves the
    run.
    """
    last = run.last_round
    rounds = arrived.rounds if arrived else {}
    if last in rounds and (last == 1 or last - 1 in rounds or rounds[last].calls):
        tail = tuple(rounds[n] for n in (last - 1, last) if n in rounds)
    else:
        tail = _tail(run)
    ended = with_ending(RunRecord(run_id="", rounds=tail, title="-"), live=not run.over)
    run.ending = (ended.ending or Ending.OPEN).value


def derive_ticket(*, run: Run, inputs: Mapping[int, StoredInput]) -> None:
    """Goal, ticket and heading from the first input that is known, if `inputs` brings it."""
    first = next(
        (n for n, kept in sorted(inputs.items()) if kept.size and kept.kind != InputKind.NONE), None
    )
    if first is None or (run.ticket_round is not None and first > run.ticket_round):
        return
    idents = [key for _, key in inputs[first].added[:FIRST_MESSAGES]]
    found = Message.objects.filter(run=run, ident__in=idents).order_by("ident")
    messages = {
        ident: RecordMessage(ident, role, content, opaque=())
        for ident, role, content in found.values_list("ident", "role", "content")
    }
    read = RunRecord(
        run_id="",
        messages=tuple(messages.values()),
        rounds=(RecordRound(1, Stop.UNKNOWN, input=InputChange(tuple(map(Placed, idents)))),),
    )
    kept = {messages[key].role: key for key in ticket_keys(read)}
    run.ticket_ident = kept.pop("user", "")
    run.goal_ident = next(iter(kept.values()), "")
    run.ticket_round = first
    if not run.title_said:
        title = with_ending(read, live=True).title
        run.title = derived_text(title, MaskedRun(read, MaskReceipt("", {})))


def last_unanswered(*, run: Run, arrived: Arrived | None) -> int:
    """Calls without a result in the last round."""
    last = arrived.rounds.get(run.last_round) if arrived else None
    if last is not None:
        return sum(call.result is None for call in last.calls)
    row = Round.objects.filter(run=run, number=run.last_round).values_list("unanswered").first()
    return row[0] if row else 0


def _tail(run: Run) -> tuple[RecordRound, ...]:
    """The last two rounds, no more of them than an ending is derived from."""
    numbers = range(run.last_round - 1, run.last_round + 1)
    calls: dict[int, list[Call]] = {}
    for number, name, is_answered, is_error in (
        ToolCall.objects.filter(run=run, round_number__in=numbers)
        .order_by("round_number", "index")
        .annotate(answered=Q(result__isnull=False))
        .values_list("round_number", "name", "answered", "is_error")
    ):
        result = "-" if is_answered else None
        calls.setdefault(number, []).append(Call(name, result=result, is_error=is_error))
    stops = Round.objects.filter(run=run, number__in=numbers).order_by("number")
    return tuple(
        RecordRound(number, Stop(stop), calls=tuple(calls.get(number, ())))
        for number, stop in stops.values_list("number", "stop")
    )
