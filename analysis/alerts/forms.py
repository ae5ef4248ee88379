"""What administrators type in for channels and rules."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.core.validators import validate_email

from analysis.detectors import all_detectors
from analysis.models import AlertChannel, AlertKind, ChannelKind
from analysis.words import detector_title
from transcripts.templatetags.transcript import in_plain

RULE_KINDS = [(value, words) for value, words in AlertKind.choices if value != AlertKind.TEST]
NEEDED = {
    AlertKind.DETECTOR: ("detector",),
    AlertKind.COST: ("amount", "currency"),
    AlertKind.TOOL_ERRORS: ("percent",),
}
# The fields that only one kind of rule goes by; they are shown with it.
ONLY_OF = {
    "detector": AlertKind.DETECTOR,
    "amount": AlertKind.COST,
    "currency": AlertKind.COST,
    "tool": AlertKind.TOOL_ERRORS,
    "percent": AlertKind.TOOL_ERRORS,
    "least": AlertKind.TOOL_ERRORS,
    "window_minutes": AlertKind.TOOL_ERRORS,
}
TIME = forms.TimeInput({"type": "time"}, format="%H:%M")
WEEK_MINUTES = 7 * 24 * 60


class ChannelChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    """A channel, by the name that it was given."""

    def label_from_instance(self, channel: AlertChannel) -> str:
        return in_plain(channel.name)


class ChannelForm(forms.Form):
    """A new channel."""

    kind = forms.ChoiceField(choices=ChannelKind.choices)
    name = forms.CharField(max_length=100)
    address = forms.CharField(max_length=2000, label="Address (https://… or name@…)")
    for_leads = forms.BooleanField(
        required=False, label="Only people who may read transcripts see it"
    )
    digest_minutes = forms.IntegerField(
        min_value=0, max_value=24 * 60, initial=0, required=False, label="Collect for (minutes)"
    )
    quiet_from = forms.TimeField(required=False, widget=TIME)
    quiet_until = forms.TimeField(required=False, widget=TIME)
    time_zone = forms.CharField(max_length=64, initial="UTC", required=False)

    def clean_time_zone(self) -> str:
        zone = self.cleaned_data["time_zone"] or "UTC"
        if zone not in available_timezones():
            raise forms.ValidationError("There is no such time zone; say it as in Europe/Berlin.")
        return str(zone)

    def clean_digest_minutes(self) -> int:
        return self.cleaned_data["digest_minutes"] or 0

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        if said.get("kind") == ChannelKind.EMAIL and "address" in said:
            try:
                validate_email(said["address"])
            except forms.ValidationError:
                self.add_error("address", "This is no e-mail address.")
        if bool(said.get("quiet_from")) != bool(said.get("quiet_until")):
            self.add_error("quiet_until", "Say when quiet hours begin and when they end.")
        return said


class RuleForm(forms.Form):
    """A new rule of one of the project's channels."""

    channel = ChannelChoice(queryset=AlertChannel.objects.none(), empty_label=None)
    kind = forms.ChoiceField(choices=RULE_KINDS, label="Tell of")
    agent = forms.CharField(max_length=300, required=False, label="Only of agent")
    detector = forms.ChoiceField(required=False)
    tool = forms.CharField(max_length=300, required=False, label="Only of tool")
    amount = forms.DecimalField(
        min_value=0, max_digits=20, decimal_places=6, required=False, label="More than"
    )
    currency = forms.CharField(max_length=8, required=False)
    percent = forms.IntegerField(
        min_value=1, max_value=100, required=False, label="Failed calls, %"
    )
    least = forms.IntegerField(min_value=1, max_value=1_000_000, initial=20, required=False,
                               label="Of at least so many calls")  # fmt: skip
    window_minutes = forms.IntegerField(min_value=5, max_value=WEEK_MINUTES, initial=60,
                                        required=False, label="Within (minutes)")  # fmt: skip
    cooldown_minutes = forms.IntegerField(min_value=0, max_value=WEEK_MINUTES, initial=5,
                                          required=False, label="Cooldown (minutes)")  # fmt: skip

    def __init__(self, *args: Any, project: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        channels = AlertChannel.objects.filter(project=project).order_by("pk")
        self.fields["channel"].queryset = channels  # type: ignore[attr-defined]
        names = sorted(detector.name for detector in all_detectors())
        titles = [("", "any"), *((name, detector_title(name)) for name in names)]
        self.fields["detector"].choices = titles  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        said = super().clean() or {}
        for name in NEEDED.get(said.get("kind", ""), ()):
            if name not in self.errors and said.get(name) in (None, ""):
                self.add_error(name, "This rule needs it.")
        for name in ("least", "window_minutes", "cooldown_minutes"):
            if said.get(name) is None:
                said[name] = self.fields[name].initial
        return said
