"""A test run that is sent round by round, so that one can watch a run while it goes on."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from django.db import transaction

from transcripts.bodies import check_shape
from transcripts.choices import DeliveryKind
from transcripts.models import Project, User
from transcripts.queueing import LIVE_TEST, enqueue, enqueue_drain
from transcripts.record import json_text
from transcripts.services.deliveries import delivery_accept

STEP_SECONDS = 3.0
PRINTERS = 9
# This printer's answer comes empty once, so that a warning is seen to come and to go.
SILENT = 5
TICKET = "Test run: are all printers of the third floor ready?"


def live_test_begin(*, project: Project, user: User | None = None) -> str:
    """Send the first round, and queue the next; returns the run's id."""
    run_id = f"test-live-{secrets.token_hex(4)}"
    live_test_step(project=project, run_id=run_id, number=1, user=user)
    return run_id


@transaction.atomic
def live_test_step(*, project: Project, run_id: str, number: int, user: User | None = None) -> None:
    """Send one round, or the end after the last, by the way that all runs take, and queue the next.
    Sent twice it changes nothing.
    """
    rounds = _rounds()
    is_end = number > len(rounds)
    body = {"ending": "finished"} if is_end else _body(rounds[number - 1])
    kind = DeliveryKind.END if is_end else DeliveryKind.ROUNDS
    delivery, _ = delivery_accept(
        project=project,
        kind=kind,
        content=check_shape(json_text(body).encode(), kind, run_id),
        format="native",
        run_id=run_id,
        user=user,
    )
    transaction.on_commit(partial(enqueue_drain, str(delivery.pk)))
    if not is_end:
        following = f"{project.pk} {run_id} {number + 1}"
        transaction.on_commit(partial(enqueue, LIVE_TEST, following, countdown=STEP_SECONDS))


def _body(round_: dict[str, Any]) -> dict[str, Any]:
    return {
        "ticket_id": "TEST",
        "agent": "agentdesk-test",
        "labels": {"test": "yes"},
        "messages": [{"key": "ticket", "role": "user", "content": TICKET}],
        "rounds": [round_],
    }


def _rounds() -> list[dict[str, Any]]:
    """A printer a round, the silent one twice, and the answer."""
    asked = [*range(1, SILENT + 1), *range(SILENT, PRINTERS + 1)]
    rounds: list[dict[str, Any]] = []
    for number, printer in enumerate(asked, 1):
        silent = number == SILENT
        call = {
            "name": "check_printer",
            "args": {"printer": printer},
            "result": "" if silent else f"printer {printer}: ready, paper {90 - 7 * printer}%",
        }
        is_again = number == SILENT + 1
        reply = "Nothing came back; I ask again." if is_again else f"Now printer {printer}."
        rounds.append({"round": number, "reply": reply, "stop": "wants_tool", "calls": [call]})
    said = f"All {PRINTERS} printers of the third floor are ready."
    rounds.append({"round": len(rounds) + 1, "reply": said, "stop": "finished"})
    for before, round_ in enumerate(rounds):
        added = [f"reply:{before}", f"result:{before}:0"] if before else ["ticket"]
        round_["input"] = {"added": added}
    return rounds
