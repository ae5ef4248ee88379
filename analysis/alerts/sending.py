"""Sends what waits: each message is one worker's for a while, and goes at least once."""

from __future__ import annotations

import json
import smtplib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from analysis.alerts import timing
from analysis.alerts.channels import channel_address, channel_secret
from analysis.alerts.outbox import quiet_of
from analysis.alerts.receivers import body_for
from analysis.alerts.signing import DELIVERY, SIGNATURE, TIMESTAMP, signature
from analysis.models import AlertChannel, AlertKind, AlertMessage, ChannelKind, MessageState
from analysis.words import without_quotes
from transcripts.mail import mail_made
from transcripts.maskers import typed_masker
from transcripts.outgoing import OutgoingFailedError, OutgoingRefusedError, post
from transcripts.sealing import SealError

# Messages that go in one request; a worker that dies with them gives them back after so long.
AT_ONCE = 50
CLAIM = timedelta(minutes=2)
KEPT = timedelta(days=30)
# Slack shows no more.
SLACK_CHARACTERS, SLACK_WORDS = 3_000, 1_000


class NotSentError(Exception):
    """A channel did not take what was sent; the text says why and quotes nothing that came."""


def messages_send(*, channel_pk: int) -> int:
    """Send what is due on a channel; returns how many messages went. Safe to run twice, at once."""
    sent = 0
    while claimed := _claim(channel_pk):
        channel = claimed[0].channel
        for each in claimed:
            each.body = body_for(channel, each)
        try:
            deliver(channel, claimed)
        except NotSentError as error:
            _failed(claimed, str(error))
            return sent
        _sent(claimed)
        sent += len(claimed)
    return sent


def channels_due() -> list[int]:
    """Channels with messages that are due and nobody's. One query."""
    waiting = AlertMessage.objects.filter(
        state=MessageState.WAITING, due_at__lte=timezone.now(), channel__active=True
    ).exclude(claimed_until__gt=timezone.now())
    return list(waiting.order_by("channel").values_list("channel", flat=True).distinct())


@transaction.atomic
def _claim(channel_pk: int) -> list[AlertMessage]:
    now = timezone.now()
    found = (
        AlertMessage.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(channel=channel_pk, channel__active=True, state=MessageState.WAITING)
        .filter(due_at__lte=now)
        .exclude(claimed_until__gt=now)
        .select_related("channel", "project")
        .order_by("due_at", "made_at", "pk")
    )
    claimed = list(found[:AT_ONCE])
    if not claimed:
        return []
    channel = claimed[0].channel
    quiet_until = timing.after_quiet(now, quiet_of(channel), channel.time_zone)
    pks = [each.pk for each in claimed]
    if quiet_until > now:
        # Tries again fall into quiet hours too.
        AlertMessage.objects.filter(pk__in=pks).update(due_at=quiet_until)
        return []
    for each in claimed:
        each.attempts += 1
        each.claimed_until = now + CLAIM
    AlertMessage.objects.bulk_update(claimed, ("attempts", "claimed_until"))
    return claimed


def _sent(messages: Sequence[AlertMessage]) -> None:
    """Note that messages went. What was cited in them is not kept: their runs may be erased."""
    now = timezone.now()
    masker = typed_masker(messages[0].project)
    for message in messages:
        words = without_quotes(str(message.body["words"]))
        message.body = {**message.body, "words": masker.text(words)}
        message.state, message.finished_at = MessageState.SENT, now
        message.claimed_until, message.error = None, ""
    fields = ("body", "state", "finished_at", "claimed_until", "error")
    AlertMessage.objects.bulk_update(messages, fields)


def messages_forget() -> int:
    """Remove messages that were sent, discarded or given up long ago; returns how many."""
    old = AlertMessage.objects.filter(finished_at__lt=timezone.now() - KEPT)
    return old.delete()[0]


def _failed(messages: Sequence[AlertMessage], why: str) -> None:
    now = timezone.now()
    for message in messages:
        again = timing.next_try(now=now, attempts=message.attempts)
        message.claimed_until = None
        message.error = why[:300]
        if again is None:
            message.state, message.finished_at = MessageState.DEAD, now
        else:
            message.due_at = again
    fields = ("claimed_until", "error", "state", "finished_at", "due_at")
    AlertMessage.objects.bulk_update(messages, fields)


def deliver(channel: AlertChannel, messages: Sequence[AlertMessage]) -> None:
    """Send messages to a channel in one go; raises `NotSentError`."""
    try:
        address = channel_address(channel)
    except SealError as error:
        raise NotSentError(str(error)) from None
    if channel.kind == ChannelKind.EMAIL:
        _mail(address, messages)
    elif channel.kind == ChannelKind.SLACK:
        _post(address, json.dumps({"text": slack_text(messages)}).encode(), {})
    else:
        body = webhook_body(messages)
        timestamp = str(int(timezone.now().timestamp()))
        secret = channel_secret(channel)
        _post(
            address,
            body,
            {
                TIMESTAMP: timestamp,
                SIGNATURE: signature(secret=secret, timestamp=timestamp, body=body),
                DELIVERY: str(messages[0].pk),
            },
        )


def webhook_body(messages: Sequence[AlertMessage]) -> bytes:
    """The JSON of a webhook: `{"alerts": [{"id", "kind", "at", "project", "words", …}]}`."""
    return json.dumps(
        {
            "alerts": [
                {"id": str(each.pk), "kind": each.kind, "at": each.made_at.isoformat(), **each.body}
                for each in messages
            ]
        },
        ensure_ascii=False,
        separators=(",", ":"),
    ).encode()


def slack_text(messages: Sequence[AlertMessage]) -> str:
    """A line for each message, with what Slack reads as markup written out."""
    lines = [_slack_line(each) for each in messages]
    text = "\n".join(lines)
    if len(text) <= SLACK_CHARACTERS:
        return text
    # No line is cut, which could break its link.
    kept, length = 0, len(f"… and {len(lines)} more")
    while kept < len(lines) and length + len(lines[kept]) + 1 <= SLACK_CHARACTERS:
        length += len(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], f"… and {len(lines) - kept} more"])


def _slack_line(message: AlertMessage) -> str:
    about = _escaped(AlertKind(message.kind).label.capitalize())
    words = _escaped(str(message.body["words"])[:SLACK_WORDS])
    return f"{about}: {words} <{_escaped(message.body['link'])}|Open>"


def _escaped(text: Any) -> str:
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _mail(address: str, messages: Sequence[AlertMessage]) -> None:
    if settings.EMAIL_BACKEND.endswith("dummy.EmailBackend"):
        raise NotSentError("No mail server is set for this Agentdesk.")
    first = messages[0]
    # A header takes no more than a mail client shows.
    line = " ".join(str(first.body["words"]).split())[:120]
    more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
    project = first.body["project"]
    flagged = reverse("analysis:run_list", args=[project]) + "?tab=flagged"
    mail = mail_made(
        to=address,
        subject=f"[Agentdesk] {line}{more}",
        name="alert",
        context={
            "project": project,
            "told": [(AlertKind(each.kind).label, each.body) for each in messages],
            "flagged": settings.AGENTDESK_URL.rstrip("/") + flagged,
        },
        headers={"Message-ID": f"<{first.pk}.{first.attempts}@agentdesk>"},
    )
    try:
        mail.send()
    except (OSError, smtplib.SMTPException) as error:
        raise NotSentError(f"The mail server did not take it ({type(error).__name__}).") from None


def _post(address: str, body: bytes, headers: dict[str, str]) -> None:
    try:
        answer = post(
            address,
            body=body,
            headers={"Content-Type": "application/json", "User-Agent": "Agentdesk", **headers},
            allowed=settings.AGENTDESK_OUTGOING_NETWORKS,
        )
    except (OutgoingRefusedError, OutgoingFailedError) as error:
        raise NotSentError(str(error)) from None
    if not answer.accepted:
        raise NotSentError(f"It answered {answer.status}.")
