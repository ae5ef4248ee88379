"""Settings: where alerts go, what for, and what did not arrive."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from analysis.alerts import channels as services
from analysis.alerts.channels import ChannelError
from analysis.alerts.forms import ONLY_OF, ChannelForm, RuleForm
from analysis.alerts.outbox import Told
from analysis.alerts.sending import NotSentError, deliver
from analysis.alerts.undoing import (
    CHANNEL,
    CHANNEL_ADDED,
    CHANNELS,
    DISCARDED,
    RULE,
    RULE_ADDED,
    RULES,
    channel_noted,
)
from analysis.models import (
    AlertChannel,
    AlertKind,
    AlertMessage,
    AlertRule,
    ChannelKind,
    MessageState,
)
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.pages import note_access, project_page
from transcripts.undo import change_offer

MESSAGES_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(May.ADMINISTER)
def alerts(request: HttpRequest, reader: Reader) -> HttpResponse:
    """Channels, rules and the latest messages; a POST adds a channel or a rule (`add`)."""
    adding = request.POST.get("add", "")
    channel_form = ChannelForm(request.POST if adding == "channel" else None)
    rule_form = RuleForm(request.POST if adding == "rule" else None, project=reader.project)
    secret = ""
    status = 200
    try:
        if adding == "channel" and channel_form.is_valid():
            secret = _add_channel(request, reader, channel_form)
            channel_form = ChannelForm()
            rule_form = RuleForm(project=reader.project)
        elif adding == "rule" and rule_form.is_valid():
            _add_rule(request, reader, rule_form)
            return redirect("analysis:alerts", reader.project.slug)
    except ChannelError as error:
        (channel_form if adding == "channel" else rule_form).add_error(None, str(error))
    if channel_form.errors or rule_form.errors:
        status = 422
    context = _context(reader) | {
        "channel_form": channel_form,
        "rule_form": rule_form,
        "rule_fields": [(field, ONLY_OF.get(field.name, "")) for field in rule_form],
        "secret": secret,
    }
    return render(request, "analysis/alerts.html", context, status=status)


@require_POST
@project_page(May.ADMINISTER)
def alert_channel_change(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Send a test over a channel, switch it off or on, or remove it (`action`)."""
    channel = AlertChannel.objects.filter(project=reader.project, pk=pk).first()
    if channel is None:
        raise Http404("No such channel in this project.")
    action, before = request.POST.get("action", ""), _channel_told(channel)
    told = CHANNELS.told(channel)
    after: dict[str, Any] | None = before
    if action == "test":
        _test(request, reader, channel)
    elif action == "remove":
        rules = services.channel_remove(channel=channel)
        after = None
        also = {0: "", 1: ", with its rule"}.get(len(rules), f", with its {len(rules)} rules")
        words = f"The channel {channel.name} is removed{also}."
        _offer(request, reader, CHANNEL, channel_noted(told, channel, rules), words)
    elif action in ("on", "off"):
        services.channel_switch(channel=channel, active=action == "on")
        after = _channel_told(channel)
        words = f"The channel {channel.name} is switched {action}."
        _offer(request, reader, CHANNEL, channel_noted(told, channel), words)
    _note(request, reader, {"alert_channel": pk, "before": before, "after": after}
          | ({"tested": True} if action == "test" else {}))  # fmt: skip
    return redirect("analysis:alerts", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def alert_rule_remove(request: HttpRequest, reader: Reader, pk: int) -> HttpResponse:
    """Remove a rule."""
    rule = AlertRule.objects.filter(project=reader.project, pk=pk).first()
    if rule is None:
        raise Http404("No such rule in this project.")
    before, told = _rule_told(rule), RULES.told(rule)
    services.rule_remove(rule=rule)
    _note(request, reader, {"alert_rule": pk, "before": before, "after": None})
    words = f"The rule about {rule.get_kind_display()} is removed."
    _offer(request, reader, RULE, {"rule": (told, RULES.told(rule))}, words)
    return redirect("analysis:alerts", reader.project.slug)


@require_POST
@project_page(May.ADMINISTER)
def alert_message_change(request: HttpRequest, reader: Reader, pk: Any) -> HttpResponse:
    """Let a message that was given up wait again, or discard it (`action`)."""
    message = AlertMessage.objects.filter(project=reader.project, pk=pk).first()
    if message is None:
        raise Http404("No such message in this project.")
    if request.POST.get("action") == "discard":
        done, discarded = services.message_discard(message=message), True
    else:
        done, discarded = services.message_retry(message=message), False
    _note(request, reader, {"alert_message": str(pk), "discarded": discarded})
    if not done:
        messages.info(request, "Nothing has changed.")
    elif discarded:
        _offer(request, reader, DISCARDED, {"message": list(message.pk.bytes)}, "Discarded.")
    else:
        messages.success(request, "It is tried again.")
    return redirect("analysis:alerts", reader.project.slug)


def _add_channel(request: HttpRequest, reader: Reader, form: ChannelForm) -> str:
    said = dict(form.cleaned_data)
    channel, secret = services.channel_add(
        project=reader.project,
        user=reader.user,
        kind=ChannelKind(said.pop("kind")),
        name=said.pop("name"),
        address=said.pop("address"),
        **said,
    )
    detail = {"alert_channel": channel.pk, "before": None, "after": _channel_told(channel)}
    _note(request, reader, detail)
    words = f"The channel {channel.name} is there. Next: a rule that says what it is told."
    _offer(request, reader, CHANNEL_ADDED, {"channel": channel.pk}, words)
    return secret


def _add_rule(request: HttpRequest, reader: Reader, form: RuleForm) -> None:
    said = dict(form.cleaned_data)
    rule = services.rule_add(project=reader.project, channel=said.pop("channel"), **said)
    _note(request, reader, {"alert_rule": rule.pk, "before": None, "after": _rule_told(rule)})
    words = f"The rule about {rule.get_kind_display()} holds from now on."
    _offer(request, reader, RULE_ADDED, {"rule": rule.pk}, words)


def _offer(
    request: HttpRequest, reader: Reader, kind: str, noted: dict[str, Any], words: str
) -> None:
    """Say what was done, with a way back."""
    change_offer(request=request, reader=reader, kind=kind, before=noted, words=words)


def _test(request: HttpRequest, reader: Reader, channel: AlertChannel) -> None:
    told = Told(reader.project, f"A test, asked for by {reader.user.short_name}.",
                f"/p/{reader.project.slug}/incidents/")  # fmt: skip
    message = AlertMessage(
        project=reader.project, channel=channel, kind=AlertKind.TEST, body=told.to(channel)
    )
    try:
        deliver(channel, [message])
    except NotSentError as error:
        messages.error(request, f"The test did not arrive: {error}")
    else:
        messages.success(request, "The test was taken.")


def _channel_told(channel: AlertChannel) -> dict[str, Any]:
    """What a channel is, for the audit log; its address may be a secret, and is not told."""
    quiet = [f"{at:%H:%M}" for at in (channel.quiet_from, channel.quiet_until) if at]
    return {
        "name": str(channel.name),
        "kind": str(channel.kind),
        "to": channel.shown,
        "for_leads": channel.for_leads,
        "active": channel.active,
        "digest_minutes": channel.digest_minutes,
        "quiet": quiet,
    }


def _rule_told(rule: AlertRule) -> dict[str, Any]:
    """What a rule is, for the audit log."""
    told = {
        field.name: getattr(rule, field.attname)
        for field in rule._meta.concrete_fields
        if field.name not in ("id", "project", "made_at", "made_by")
    }
    return {name: str(value) for name, value in told.items() if value not in (None, "")}


def _note(request: HttpRequest, reader: Reader, detail: dict[str, Any]) -> None:
    note_access(request, reader, AccessAction.SETTINGS, None, detail)


def _context(reader: Reader) -> dict[str, Any]:
    own = AlertMessage.objects.filter(project=reader.project, channel__removed_at=None)
    own = own.select_related("channel")
    dead = own.filter(state=MessageState.DEAD)
    return {
        "section": "settings",
        "now": timezone.now(),
        "channels": AlertChannel.objects.filter(project=reader.project).order_by("pk"),
        "rules": AlertRule.objects.filter(project=reader.project)
        .select_related("channel")
        .order_by("pk"),
        "dead": dead.order_by("-made_at", "-pk")[:MESSAGES_SHOWN],
        "dead_count": dead.count(),
        "latest": own.exclude(state=MessageState.DEAD).order_by("-made_at", "-pk")[:MESSAGES_SHOWN],
    }
