"""Channels and rules: made, changed and removed by administrators. Addresses are kept sealed."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analysis.alerts.outbox import rules_forget
from analysis.alerts.receivers import may_not_read
from analysis.models import AlertChannel, AlertMessage, AlertRule, ChannelKind, MessageState
from transcripts.maskers import typed_masker
from transcripts.models import Project, User
from transcripts.outgoing import OutgoingRefusedError, destination
from transcripts.sealing import seal, unseal
from transcripts.undo import UNDONE_WITHIN

SECRET_BYTES = 32
MOST_CHANNELS = 20
MOST_RULES = 50


class ChannelError(ValueError):
    """A channel or rule cannot be so; the message says why, for people."""


def channel_add(
    *, project: Project, kind: ChannelKind, name: str, address: str, user: User, **values: Any
) -> tuple[AlertChannel, str]:
    """Add a channel; returns it with the secret that its webhooks are signed with, shown once."""
    if AlertChannel.objects.filter(project=project).count() >= MOST_CHANNELS:
        raise ChannelError(f"A project has {MOST_CHANNELS} channels at most.")
    vouched_for = kind == ChannelKind.EMAIL and values.get("for_leads")
    if vouched_for and (why := may_not_read(project, address)):
        raise ChannelError(why)
    if kind != ChannelKind.EMAIL:
        try:
            destination(address, allowed=settings.AGENTDESK_OUTGOING_NETWORKS)
        except OutgoingRefusedError as error:
            raise ChannelError(str(error)) from None
    secret = secrets.token_urlsafe(SECRET_BYTES) if kind == ChannelKind.WEBHOOK else ""
    channel = AlertChannel(
        project=project,
        kind=kind,
        name=typed_masker(project).text(name),
        shown=address if kind == ChannelKind.EMAIL else urlsplit(address).hostname or "",
        made_by=user,
        **values,
    )
    channel.sealed = seal(address.encode(), name=_name(channel, "address"))
    channel.sealed_secret = seal(secret.encode(), name=_name(channel, "secret"))
    channel.save()
    return channel, secret


def channel_address(channel: AlertChannel) -> str:
    """Where it goes; raises `SealError`."""
    return unseal(bytes(channel.sealed), name=_name(channel, "address")).decode()


def channel_secret(channel: AlertChannel) -> bytes:
    """What its webhooks are signed with; raises `SealError`."""
    return unseal(bytes(channel.sealed_secret), name=_name(channel, "secret"))


@transaction.atomic
def channel_remove(*, channel: AlertChannel) -> list[AlertRule]:
    """Remove a channel with its rules, which are returned. Nothing is sent over it any more; what
    waits does so for as long as the channel can be brought back.
    """
    channel.active, channel.removed_at = False, timezone.now()
    channel.save(update_fields=["active", "removed_at"])
    rules = list(AlertRule.objects.filter(channel=channel).order_by("pk"))
    for rule in rules:
        rule_remove(rule=rule)
    transaction.on_commit(rules_forget)
    return rules


def channel_switch(*, channel: AlertChannel, active: bool) -> None:
    """Switch a channel off, so that its messages wait, or on again."""
    channel.active = active
    channel.save(update_fields=["active"])
    transaction.on_commit(rules_forget)


def rule_add(*, project: Project, channel: AlertChannel, **values: Any) -> AlertRule:
    """Add a rule; agent and tool are typed, and so masked."""
    if AlertRule.objects.filter(project=project).count() >= MOST_RULES:
        raise ChannelError(f"A project has {MOST_RULES} rules at most.")
    masker = typed_masker(project)
    for name in ("agent", "tool"):
        values[name] = masker.text(values.get(name) or "")
    rule = AlertRule.objects.create(project=project, channel=channel, **values)
    transaction.on_commit(rules_forget)
    return rule


def rule_remove(*, rule: AlertRule) -> None:
    """Remove a rule; what it has written is sent all the same."""
    rule.removed_at = timezone.now()
    rule.save(update_fields=["removed_at"])
    transaction.on_commit(rules_forget)


def removed_forget() -> int:
    """Delete channels and rules that nobody can bring back any more; returns how many rows."""
    before = timezone.now() - UNDONE_WITHIN
    gone, _ = AlertRule.everything.filter(removed_at__lt=before).delete()
    return gone + AlertChannel.everything.filter(removed_at__lt=before).delete()[0]


def message_retry(*, message: AlertMessage) -> bool:
    """Let a message that was given up wait again, with all its tries; False where it was not."""
    return bool(
        AlertMessage.objects.filter(pk=message.pk, state=MessageState.DEAD).update(
            state=MessageState.WAITING, attempts=0, due_at=message.made_at, finished_at=None
        )
    )


def message_discard(*, message: AlertMessage) -> bool:
    """Give up a message for good; False where it was sent or is waiting."""
    return bool(
        AlertMessage.objects.filter(pk=message.pk, state=MessageState.DEAD).update(
            state=MessageState.DISCARDED, finished_at=timezone.now()
        )
    )


def _name(channel: AlertChannel, part: str) -> bytes:
    return f"alert channel {channel.ident} {part}".encode()
