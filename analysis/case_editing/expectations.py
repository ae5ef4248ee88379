"""What must hold, a form for each kind of expectation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from analysis.case_editing.rows import (
    LONGEST_NAME,
    LONGEST_TEXT,
    ArgumentsField,
    NamesField,
    PatternField,
    Row,
    filled,
    plain,
    tool_input,
)
from analysis.detectors import all_detectors
from transcripts.choices import Ending

LONGEST_BECAUSE = 2_000
MOST = 100_000


class Expectation(Row):
    """One thing that must hold. `id` and `because` go with it and are not edited."""

    id = forms.CharField(required=False, max_length=200, widget=forms.HiddenInput)
    kind = forms.CharField(max_length=100, widget=forms.HiddenInput)
    because = forms.CharField(required=False, max_length=LONGEST_BECAUSE, widget=forms.HiddenInput)
    name: ClassVar[str]
    title: ClassVar[str]
    # Fields of the page by another name in the file.
    renamed: ClassVar[Mapping[str, str]] = {}

    def said(self) -> dict[str, Any]:
        """What was filled in, by the names of the file."""
        own = {
            self.renamed.get(name, name): value
            for name, value in self.cleaned_data.items()
            if name not in Expectation.base_fields
        }
        return filled(own)

    def entry(self, ident: str) -> dict[str, Any]:
        """The expectation of the file, under this id."""
        because = self.cleaned_data["because"]
        told = {"because": because} if because else {}
        return {"id": ident, "kind": self.name, **self.said(), **told}

    @classmethod
    def initial_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        """The initial values of a form for an expectation of the file."""
        back = {theirs: ours for ours, theirs in cls.renamed.items()}
        initial = {back.get(name, name): value for name, value in entry.items()}
        return {**initial, "because": str(entry.get("because", ""))[:LONGEST_BECAUSE]}


class EndingRow(Expectation):
    name, title = "ending", "how it ends"
    sentence = "It ends as one of: {endings}"
    renamed = {"endings": "in"}
    endings = forms.MultipleChoiceField(
        label="Endings", choices=Ending.choices, widget=forms.CheckboxSelectMultiple
    )


class RoundsRow(Expectation):
    name, title = "max_rounds", "a limit of rounds"
    sentence = "At most {rounds} rounds"
    rounds = forms.IntegerField(label="Rounds", min_value=1, max_value=MOST)


class CostRow(Expectation):
    name, title = "max_cost", "a limit of cost"
    sentence = "It costs at most {cost} in the run's currency"
    cost = forms.FloatField(label="Cost", min_value=0, max_value=10**9)

    def clean_cost(self) -> float | int | None:
        return plain(self.cleaned_data["cost"])


class SecondsRow(Expectation):
    name, title = "max_seconds", "a limit of time"
    sentence = "It takes at most {seconds} seconds"
    seconds = forms.FloatField(label="Seconds", min_value=0, max_value=10**6)

    def clean_seconds(self) -> float | int | None:
        return plain(self.cleaned_data["seconds"])


class IdenticalRow(Expectation):
    name, title = "no_identical_call", "no call again and again"
    sentence = (
        "No call is made {times} times with the same arguments and an unchanged result;"
        " tools that are let off: {but}"
    )
    renamed = {"but": "except"}
    times = forms.IntegerField(label="Times", min_value=2, max_value=1000, initial=3)
    but = NamesField(label="Tools that are let off", required=False, widget=tool_input())


class EmptyRow(Expectation):
    name, title = "no_empty_result", "no empty or swallowed result"
    sentence = "No empty or swallowed result reaches the model; tools that are let off: {but}"
    renamed = {"but": "except"}
    but = NamesField(label="Tools that are let off", required=False, widget=tool_input())


class MustCallRow(Expectation):
    name, title = "must_call", "a tool that must be called"
    sentence = "It calls {tool} with at least the arguments {args}"
    tool = forms.CharField(label="Tool", max_length=LONGEST_NAME, widget=tool_input())
    args = ArgumentsField(label="Arguments as JSON", required=False)


class MustNotCallRow(MustCallRow):
    name, title = "must_not_call", "a tool that must not be called"
    sentence = "It does not call {tool} with the arguments {args}"


class RetryRow(Expectation):
    name, title = "no_retry_after_failure", "no retry after a failure"
    sentence = "After {tool} fails it is not called again {any_args}"
    tool = forms.CharField(label="Tool", max_length=LONGEST_NAME, widget=tool_input())
    any_args = forms.ChoiceField(
        label="With which arguments",
        required=False,
        choices=[("", "with the same arguments"), ("any", "at all")],
    )

    def said(self) -> dict[str, Any]:
        said = super().said()
        return {**said, "any_args": True} if "any_args" in said else said

    @classmethod
    def initial_of(cls, entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**super().initial_of(entry), "any_args": "any" if entry.get("any_args") else ""}


class ReplyRow(Expectation):
    name, title = "final_reply", "what the final reply says"
    sentence = "The final reply contains {contains} and lacks {lacks} and matches {matches}"
    contains = forms.CharField(label="Contains", required=False, max_length=LONGEST_TEXT)
    lacks = forms.CharField(label="Lacks", required=False, max_length=LONGEST_TEXT)
    matches = PatternField(label="Matches the pattern", required=False, max_length=1000)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        if not self.errors and not any(said.get(n) for n in ("contains", "lacks", "matches")):
            raise forms.ValidationError("Say what the final reply contains, lacks or matches.")
        return said


class TicketRow(Expectation):
    name, title = "ticket_in_every_input", "the ticket stays in sight"
    sentence = "Every round's input holds the ticket, or this text: {text}"
    text = forms.CharField(label="Text", required=False, max_length=LONGEST_TEXT)


class DetectorsRow(Expectation):
    name, title = "detectors_silent", "detectors that find nothing"
    sentence = "These detectors find nothing (judged by ./desk replay alone): {detectors}"
    detectors = forms.MultipleChoiceField(
        label="Detectors",
        choices=lambda: [(each.name, each.title) for each in all_detectors()],
        widget=forms.CheckboxSelectMultiple,
    )


KINDS: dict[str, type[Expectation]] = {
    row.name: row
    for row in (
        EndingRow,
        RoundsRow,
        CostRow,
        SecondsRow,
        IdenticalRow,
        EmptyRow,
        MustCallRow,
        MustNotCallRow,
        RetryRow,
        ReplyRow,
        TicketRow,
        DetectorsRow,
    )
}
