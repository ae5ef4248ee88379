"""Limits as people fill them in."""

from __future__ import annotations

from typing import Any

from django import forms

from analysis.detectors.limits import RepeatMode
from analysis.limits.sets import LONGEST_NAME, Values

MODES = {
    RepeatMode.TOTAL: "in the whole run",
    RepeatMode.WINDOW: "in the last calls",
    RepeatMode.CONSECUTIVE: "in a row",
}
EFFECTS = {"changes": "changes something", "reads": "only reads"}
YES_NO = {"yes": "yes", "no": "no"}
# Fields that people fill in in minutes, and the values that are kept in seconds.
IN_MINUTES = {"minutes": "seconds", "quiet_minutes": "idle_seconds"}
HELP = {
    "rounds": "A run with more rounds has passed its limit.",
    "minutes": "A run that takes longer has passed its limit.",
    "cost": "In the currency that the run says; a computed cost is in US dollars.",
    "context_window": "Tokens that the model can read; used where the run does not say.",
    "repeat_limit": "How often one call may be made with one answer. The next one is a finding.",
    "repeat_mode": "What those calls are counted over.",
    "repeat_window": "How many calls back are looked at, when counting in the last calls.",
    "quiet_minutes": "A live run to which nothing comes for longer counts as over for now.",
    "polled": "Asked over and over on purpose: a status check, a queue.",
    "silent": "Answers nothing by nature, so that an empty answer is normal. “No” also puts right "
    "what was learned.",
    "effect": "Where its name does not say whether it changes anything.",
}


def _choices(words: dict[Any, str]) -> list[tuple[str, str]]:
    return [("", "not set here"), *((str(value), text) for value, text in words.items())]


class RunLimitsForm(forms.Form):
    """Limits of a project or an agent."""

    rounds = forms.IntegerField(label="Rounds", min_value=1, max_value=10**6, required=False)
    minutes = forms.FloatField(label="Minutes", min_value=0.01, max_value=10**6, required=False)
    cost = forms.DecimalField(label="Cost", min_value=0, max_digits=14, required=False)
    context_window = forms.IntegerField(
        label="Context window", min_value=1, max_value=10**9, required=False
    )
    repeat_limit = forms.IntegerField(
        label="Same call", min_value=1, max_value=10**6, required=False
    )
    repeat_mode = forms.ChoiceField(label="Counted", choices=_choices(MODES), required=False)
    repeat_window = forms.IntegerField(
        label="Last calls", min_value=2, max_value=10**5, required=False
    )
    quiet_minutes = forms.FloatField(
        label="Quiet minutes", min_value=0.1, max_value=10**6, required=False
    )

    @classmethod
    def filled(cls, values: Values) -> RunLimitsForm:
        """The form with what is set."""
        initial = dict(values)
        for name, key in IN_MINUTES.items():
            if key in initial:
                initial[name] = f"{initial.pop(key) / 60:g}"
        return cls(initial=initial)

    @property
    def values(self) -> Values:
        """What was filled in, as a limit set keeps it."""
        said = dict(self.cleaned_data)
        for name, key in IN_MINUTES.items():
            minutes = said.pop(name)
            said[key] = None if minutes is None else minutes * 60
        cost = said.pop("cost")
        if cost is not None:
            said["cost"] = str(cost)
        return {name: value for name, value in said.items() if value not in (None, "")}


class ToolLimitsForm(forms.Form):
    """Limits of a tool."""

    repeat_limit = forms.IntegerField(
        label="Same call", min_value=1, max_value=10**6, required=False
    )
    polled = forms.ChoiceField(label="Polled", choices=_choices(YES_NO), required=False)
    silent = forms.ChoiceField(label="Silent", choices=_choices(YES_NO), required=False)
    effect = forms.ChoiceField(label="Effect", choices=_choices(EFFECTS), required=False)

    @classmethod
    def filled(cls, values: Values) -> ToolLimitsForm:
        words = {True: "yes", False: "no"}
        return cls(
            initial={
                name: words[value] if isinstance(value, bool) else value
                for name, value in values.items()
            }
        )

    @property
    def values(self) -> Values:
        said = dict(self.cleaned_data)
        for name in ("polled", "silent"):
            said[name] = {"yes": True, "no": False}.get(said[name])
        return {name: value for name, value in said.items() if value not in (None, "")}


class ScopeForm(forms.Form):
    """Whose limits; in the address of the page."""

    agent = forms.CharField(max_length=LONGEST_NAME, required=False)
    tool = forms.CharField(max_length=LONGEST_NAME, required=False)


LimitsForm = RunLimitsForm | ToolLimitsForm
