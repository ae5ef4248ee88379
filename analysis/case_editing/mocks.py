"""Tool mocks and branches as rows of the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms

from analysis.case_editing.rows import (
    LONGEST_NAME,
    LONGEST_PATTERN,
    LONGEST_TEXT,
    ArgumentsField,
    NumbersField,
    PatternField,
    Row,
    filled,
    plain,
    tool_input,
)
from analysis.cases.harness import RAISES

ANSWERS = (
    ("error", "fails with this text"),
    ("result", "answers this text"),
    ("empty", "answers nothing"),
    ("timeout", "times out"),
    ("schema_error", "refuses the arguments"),
    ("slow", "answers late, as recorded"),
)
SAYS_TEXT = ("error", "result")
YES_NO = (("", "either way"), ("yes", "yes"), ("no", "no"))
STOPS = (
    ("", "by its calls"),
    ("finished", "finished"),
    ("wants_tool", "wants a tool"),
    ("cut_off", "cut off"),
    ("blocked", "blocked"),
    ("error", "error"),
    ("unknown", "unknown"),
)
LONGEST_NOTE = 2_000


class MockRow(Row):
    """Another answer of a tool."""

    tool = forms.CharField(label="Tool", max_length=LONGEST_NAME, widget=tool_input())
    answer = forms.ChoiceField(label="What it does", choices=ANSWERS)
    text = forms.CharField(
        label="Text", required=False, max_length=LONGEST_TEXT, widget=forms.Textarea({"rows": 2})
    )
    raises = forms.ChoiceField(
        label="Raised as", required=False, choices=[("", "RuntimeError")] + [(n, n) for n in RAISES]
    )
    how = forms.ChoiceField(
        label="Fails by",
        required=False,
        choices=[("", "raising"), ("result", "a result with the error flag")],
    )
    seconds = forms.FloatField(label="Waits, seconds", required=False, min_value=0, max_value=3600)
    args = ArgumentsField(label="Only for the arguments", required=False)
    calls = NumbersField(label="Only its calls number", required=False)
    note = forms.CharField(label="Note", required=False, max_length=LONGEST_NOTE)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        if said.get("answer") in SAYS_TEXT and not said.get("text"):
            self.add_error("text", "Say what the tool answers.")
        return said

    def entry(self) -> dict[str, Any]:
        """The mock of the file."""
        said = dict(self.cleaned_data)
        said.pop("on")
        if said["answer"] not in SAYS_TEXT and said["answer"] != "timeout":
            said["text"] = ""
        if said["answer"] != "error":
            said["raises"] = said["how"] = ""
        if said["answer"] not in ("timeout", "slow"):
            said["seconds"] = None
        said["as"] = said.pop("how")
        said["seconds"] = plain(said["seconds"])
        return filled(said)

    @classmethod
    def initial_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        how = "result" if entry.get("as") == "result" else ""
        return {**entry, "how": how, "on": True}


class CallsField(forms.CharField):
    """Tool calls, one a line: the tool's name, then its arguments as JSON."""

    def to_python(self, value: Any) -> Any:
        lines = (value or "").splitlines()
        return [read_call(line.strip(), n) for n, line in enumerate(lines, 1) if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(
            call["name"]
            + (f" {json.dumps(call['args'], ensure_ascii=False)}" if "args" in call else "")
            for call in value
        )

    def run_validators(self, value: Any) -> None:
        """Those of a text would ask a list for its length."""


def read_call(line: str, number: int) -> dict[str, Any]:
    """One call. Raises `ValidationError` that says in which line."""
    name, _, text = line.partition(" ")
    if len(name) > LONGEST_NAME:
        raise forms.ValidationError(
            f"Line {number}: a name of more than {LONGEST_NAME} characters."
        )
    if not text.strip():
        return {"name": name}
    try:
        args = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise forms.ValidationError(
            f"Line {number}: the arguments are not JSON: {error}."
        ) from None
    if not isinstance(args, (dict, str)):
        raise forms.ValidationError(f'Line {number}: arguments are an object, as {{"id": 7}}.')
    return {"name": name, "args": args}


class ReplyForm(forms.Form):
    """One reply of a branch. `rest` holds what the page does not show of one from a file."""

    use_required_attribute = False
    text = forms.CharField(
        label="The model says",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea({"rows": 2}),
    )
    calls = CallsField(
        label="and calls, one a line", required=False, widget=forms.Textarea({"rows": 1})
    )
    stop = forms.ChoiceField(label="and stops because", required=False, choices=STOPS)
    rest = forms.JSONField(required=False, widget=forms.HiddenInput)

    def entry(self) -> dict[str, Any]:
        """The reply of the file; empty where nothing is filled in."""
        said = dict(self.cleaned_data)
        rest = said.pop("rest")
        return {**filled(said), **(rest if isinstance(rest, dict) else {})}

    @classmethod
    def initial_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        shown = {name: entry[name] for name in ("text", "calls", "stop") if name in entry}
        return {**shown, "rest": {n: v for n, v in entry.items() if n not in shown}}


class BranchRow(Row):
    """What a model would reply that is told something else; its replies are forms of their own."""

    result_of = forms.CharField(
        label="When the result of", required=False, max_length=LONGEST_NAME, widget=tool_input()
    )
    contains = forms.CharField(label="contains", required=False, max_length=LONGEST_TEXT)
    matches = PatternField(label="matches the pattern", required=False, max_length=LONGEST_PATTERN)
    empty = forms.ChoiceField(label="is empty", required=False, choices=YES_NO)
    error = forms.ChoiceField(label="is an error", required=False, choices=YES_NO)
    round = forms.IntegerField(label="in round", required=False, min_value=1)
    then = forms.ChoiceField(
        label="Then",
        required=False,
        choices=[("", "the script is over"), ("resume", "it goes on as recorded")],
    )
    note = forms.CharField(label="Note", required=False, max_length=LONGEST_NOTE)
    replies: list[ReplyForm]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        if not self.errors and not self.when(said):
            raise forms.ValidationError("Say when it applies: at least one condition.")
        return said

    def is_valid(self) -> bool:
        """Its replies count too; a branch without one is none."""
        if not super().is_valid():
            return False
        if not self.is_on:
            return True
        if not all(reply.is_valid() for reply in self.replies):
            return False
        if not any(reply.entry() for reply in self.replies):
            self.add_error(None, "Say what the model replies.")
            return False
        return True

    @staticmethod
    def when(said: Mapping[str, Any]) -> dict[str, Any]:
        wanted = {n: said.get(n) for n in ("round", "result_of", "contains", "matches")}
        flags = {n: said[n] == "yes" for n in ("empty", "error") if said.get(n)}
        return {**filled(wanted), **flags}

    def entry(self) -> dict[str, Any]:
        """The branch of the file."""
        said = self.cleaned_data
        replies = [entry for reply in self.replies if (entry := reply.entry())]
        more = filled({"then": said["then"], "note": said["note"]})
        return {"when": self.when(said), "replies": replies, **more}

    @classmethod
    def initial_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        when = {
            name: {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
            for name, value in entry["when"].items()
        }
        then = "resume" if entry.get("then") == "resume" else ""
        return {**when, "then": then, "note": entry.get("note", ""), "on": True}
