"""Takes back what administrators did to channels, rules and messages that were given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from django.db import transaction

from analysis.alerts.channels import channel_remove, rule_remove
from analysis.alerts.outbox import rules_forget
from analysis.models import AlertChannel, AlertMessage, AlertRule, MessageState
from transcripts.access import May, Reader
from transcripts.undo import UndoError, undoes
from transcripts.undo_rows import Pair, Rows, Told

CHANNEL_ADDED, CHANNEL, RULE_ADDED, RULE, DISCARDED = (
    "alert_channel_added",
    "alert_channel_changed",
    "alert_rule_added",
    "alert_rule_removed",
    "alert_discarded",
)
CHANNELS = Rows(
    AlertChannel, ("active", "removed_at"), name=lambda channel: f"The channel {channel.name}"
)
RULES = Rows(AlertRule, ("removed_at",), name=lambda _: "The rule")


def channel_noted(
    before: Told | None, channel: AlertChannel, rules: Sequence[AlertRule] = ()
) -> dict[str, Any]:
    """A change of a channel, and of the rules that went with it."""
    gone: list[Pair] = [({"pk": rule.pk, "removed_at": None}, RULES.told(rule)) for rule in rules]
    return {"channel": (before, CHANNELS.told(channel)), "rules": gone}


@undoes(CHANNEL_ADDED, may=May.ADMINISTER)
def channel_not_added(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Remove a new channel, with the rules that it has got meanwhile."""
    channel = AlertChannel.objects.filter(project=reader.project, pk=noted["channel"]).first()
    if channel is None:
        raise UndoError("The channel was removed since.")
    if AlertRule.objects.filter(channel=channel).exists():
        raise UndoError("The channel has rules by now. Remove it below, if they are to go too.")
    channel_remove(channel=channel)
    return f"The channel {channel.name} is gone again."


@undoes(CHANNEL, may=May.ADMINISTER)
def channel_as_before(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Switch a channel as it was, or bring it back with its rules."""
    before, after = noted["channel"]
    channel = cast(AlertChannel, CHANNELS.put_back(reader.project, [(before, after)])[0])
    rules = RULES.put_back(reader.project, [(old, new) for old, new in noted["rules"]])
    transaction.on_commit(rules_forget)
    if after["removed_at"] is None:
        return f"The channel {channel.name} is switched {'on' if channel.active else 'off'} again."
    also = {0: "", 1: ", with its rule"}.get(len(rules), f", with its {len(rules)} rules")
    return f"The channel {channel.name} is back{also}."


@undoes(RULE_ADDED, may=May.ADMINISTER)
def rule_not_added(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Remove a new rule."""
    rule = AlertRule.objects.filter(project=reader.project, pk=noted["rule"]).first()
    if rule is None:
        raise UndoError("The rule was removed since.")
    rule_remove(rule=rule)
    return "The rule is gone again."


@undoes(RULE, may=May.ADMINISTER)
def rule_back(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let a removed rule hold again."""
    rule = cast(AlertRule, RULES.put_back(reader.project, [noted["rule"]])[0])
    if not AlertChannel.objects.filter(pk=rule.channel_id).exists():
        raise UndoError("Its channel was removed since.")
    transaction.on_commit(rules_forget)
    return "The rule holds again."


@undoes(DISCARDED, may=May.ADMINISTER)
def message_not_discarded(reader: Reader, noted: Mapping[str, Any]) -> str:
    """Let a message that was discarded be one that was given up, which can be tried again."""
    found = AlertMessage.objects.filter(
        project=reader.project, pk=UUID(bytes=bytes(noted["message"])), state=MessageState.DISCARDED
    )
    if not found.update(state=MessageState.DEAD):
        raise UndoError("The message is not there any more.")
    return "The message is among those that were given up, as before."
