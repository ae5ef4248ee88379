"""Writes messages in the transaction of what they tell, so that neither a dead queue nor a dead
worker loses one, and nothing is told that was rolled back.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from analysis.alerts import timing
from analysis.models import (
    AlertChannel,
    AlertKind,
    AlertMessage,
    AlertRule,
    Incident,
    IncidentEvent,
    MessageState,
    Verdict,
)
from analysis.services.incident_states import EventKind
from analysis.words import without_quotes
from transcripts.maskers import typed_masker
from transcripts.masking.types import MaskedText
from transcripts.models import Project, Run
from transcripts.queueing import enqueue

ALERTS_SEND = "agentdesk.tasks.alerts_send"
# A worker looks up a project's rules so often; a new rule holds from then on.
RULES_SECONDS = 5.0
OF_EVENTS = {
    EventKind.OPENED: AlertKind.INCIDENT_NEW,
    EventKind.REGRESSED: AlertKind.INCIDENT_REGRESSED,
    EventKind.ESCALATED: AlertKind.INCIDENT_ESCALATING,
}
_rules: dict[int, tuple[float, list[AlertRule]]] = {}
_untold: ContextVar[bool] = ContextVar("untold", default=False)


def rules_of(project_id: int) -> Sequence[AlertRule]:
    """The active rules of a project with their channels, at most `RULES_SECONDS` old."""
    now = time.monotonic()
    known = _rules.get(project_id)
    if known is None or known[0] < now - RULES_SECONDS:
        active = AlertRule.objects.filter(project=project_id, active=True, channel__active=True)
        known = (now, list(active.select_related("channel", "project").order_by("pk")))
        _rules[project_id] = known
    return known[1]


def rules_forget() -> None:
    """Look rules up again; where they were changed."""
    _rules.clear()


@contextmanager
def untold() -> Iterator[None]:
    """Write nothing within: what is read or grouped once more is no news."""
    token = _untold.set(True)
    try:
        yield
    finally:
        _untold.reset(token)


def events_tell(events: Iterable[IncidentEvent]) -> None:
    """Write what rules want to know of events of incidents."""
    if _untold.get():
        return
    for event in events:
        kind = OF_EVENTS.get(EventKind(event.kind)) if event.kind in OF_EVENTS else None
        if kind is None:
            continue
        incident = event.incident
        for rule in rules_of(incident.project_id):
            if rule.kind == kind and _of_agent(rule, incident):
                message_write(rule=rule, subject=f"event:{event.pk}", told=_incident(incident))


def run_tell(*, run: Run, verdict: Verdict, detectors: Mapping[str, int]) -> None:
    """Write what rules want to know of a run that was analysed; of each run once.

    `detectors` maps those that found something to the first round.
    """
    if _untold.get():
        return
    for rule in rules_of(run.project_id):
        if rule.agent and rule.agent != run.agent:
            continue
        if _wants(rule, verdict, detectors):
            message_write(rule=rule, subject=f"run:{run.pk}", told=_run(run, verdict))


def _wants(rule: AlertRule, verdict: Verdict, detectors: Mapping[str, int]) -> bool:
    if rule.kind == AlertKind.RUN_FLAGGED:
        return verdict.flagged
    if rule.kind == AlertKind.DETECTOR:
        return rule.detector in detectors
    if rule.kind == AlertKind.COST:
        return (
            verdict.cost is not None
            and rule.amount is not None
            and verdict.cost > rule.amount
            and str(verdict.cost_currency).upper() == rule.currency.upper()
        )
    return False


def message_write(*, rule: AlertRule, subject: str, told: Told) -> AlertMessage | None:
    """Put one message out, unless the rule has told of the subject already."""
    channel = rule.channel
    now = timezone.now()
    message = AlertMessage(
        project_id=rule.project_id,
        channel=channel,
        rule=rule,
        kind=rule.kind,
        subject=subject,
        body=told.to(channel),
        made_at=now,
        due_at=_due(rule, now),
    )
    made = AlertMessage.objects.bulk_create([message], ignore_conflicts=True)
    if message.due_at <= now:
        # What is due later the sweep finds.
        transaction.on_commit(partial(enqueue, ALERTS_SEND, channel.pk), robust=True)
    return made[0] if made else None


def _due(rule: AlertRule, now: datetime) -> datetime:
    channel = rule.channel
    waiting = last = None
    if rule.cooldown_minutes:
        times = AlertMessage.objects.filter(rule=rule).values_list("due_at", flat=True)
        # What failed and is tried again later holds up nothing that is new.
        first = times.filter(state=MessageState.WAITING, attempts=0, due_at__gt=now)
        waiting = first.order_by("due_at").first()
        last = times.filter(due_at__lte=now).order_by("-due_at").first()
    return timing.due(
        now=now,
        waiting=waiting,
        last=last,
        cooldown=timedelta(minutes=rule.cooldown_minutes),
        digest=timedelta(minutes=channel.digest_minutes),
        quiet=quiet_of(channel),
        zone=channel.time_zone,
    )


def quiet_of(channel: AlertChannel) -> Any:
    """The channel's quiet hours, or None."""
    if channel.quiet_from is None or channel.quiet_until is None:
        return None
    return channel.quiet_from, channel.quiet_until


class Told:
    """What is told, in both tellings: `words` cite what was said between “ and ”, which is left out
    for channels that anybody may read.
    """

    def __init__(
        self, project: Project, words: MaskedText | str, address: str, **facts: Any
    ) -> None:
        self._project = project
        self._words = words
        self._address = address
        self._facts = facts

    def to(self, channel: AlertChannel) -> dict[str, Any]:
        """The message's body for a channel; all its texts are masked."""
        words = str(self._words) if channel.for_leads else without_quotes(str(self._words))
        # Of masked texts, which come out as they are.
        masker = typed_masker(self._project)
        link = settings.AGENTDESK_URL.rstrip("/") + self._address
        facts = {
            name: masker.text(value) if isinstance(value, str) else value
            for name, value in self._facts.items()
        }
        return {
            "project": masker.text(self._project.slug),
            "words": masker.text(words),
            "link": masker.text(link),
            **facts,
        }


def _incident(incident: Incident) -> Told:
    project = incident.project
    return Told(
        project,
        f"{incident.name}: {incident.title}",
        reverse("analysis:incident_detail", args=[project.slug, incident.number]),
        incident=incident.name,
        state=str(incident.state),
        runs=incident.run_count,
    )


def _run(run: Run, verdict: Verdict) -> Told:
    closed = run.restricted
    sentence = without_quotes(str(verdict.sentence)) if closed else str(verdict.sentence)
    at = f"#r{verdict.odd_round}" if verdict.odd_round else ""
    return Told(
        run.project,
        f"{run.ticket_id or run.run_id}: {sentence}",
        reverse("analysis:run_detail", args=[run.project.slug, run.pk]) + at,
        run=str(run.run_id),
        ticket=str(run.ticket_id),
        agent=str(run.agent),
    )


def _of_agent(rule: AlertRule, incident: Incident) -> bool:
    return not rule.agent or incident.fingerprints.filter(agent=rule.agent).exists()
