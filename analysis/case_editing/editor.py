"""The whole form of a test case: what it says, its rows, and the definition that comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django import forms

from analysis.case_editing.expectations import KINDS, Expectation
from analysis.case_editing.mocks import BranchRow, MockRow, ReplyForm
from analysis.case_editing.rows import Row, filled, plain
from analysis.cases.parts import written_part
from analysis.cases.suggest import Suggestion, ident

MOST_ROWS = 100  # of each kind, as the format allows
MOST_REPLIES = 100
HUNDRED = 100


class HeadForm(forms.Form):
    """What a case says of itself, and how it is replayed."""

    use_required_attribute = False
    title = forms.CharField(label="Title", required=False, max_length=500)
    notes = forms.CharField(
        label="Notes", required=False, max_length=20_000, widget=forms.Textarea({"rows": 2})
    )
    incident = forms.CharField(label="Incident", required=False, max_length=20)
    replies = forms.ChoiceField(
        label="The recorded replies are given",
        required=False,
        choices=[("", "in order"), ("by_match", "where the results are shown that they answered")],
    )
    otherwise = forms.ChoiceField(
        label="Where none matches",
        required=False,
        choices=[("", "the next in order is given"), ("stop", "the run stops")],
    )
    unrecorded = forms.ChoiceField(
        label="A call that was not recorded",
        required=False,
        choices=[("", "fails and says so"), ("stop", "stops the run")],
    )
    rounds = forms.IntegerField(
        label="Hard stop after rounds", required=False, min_value=1, max_value=100_000
    )
    seconds = forms.FloatField(
        label="Hard stop after seconds", required=False, min_value=0.001, max_value=86_400
    )
    percent = forms.FloatField(
        label="Runs that must pass, %", required=False, min_value=0.01, max_value=HUNDRED
    )

    def entries(self) -> dict[str, Any]:
        """The fields of the file."""
        said = self.cleaned_data
        rate = said["percent"]
        limits = {
            "rounds": said["rounds"],
            "seconds": plain(said["seconds"]),
            "pass_rate": None if rate is None else plain(rate / HUNDRED),
        }
        script = {name: said[name] for name in ("replies", "otherwise", "unrecorded")}
        whole = {name: said[name] for name in ("title", "incident", "notes")}
        return filled(whole) | _named("script", filled(script)) | _named("limits", filled(limits))

    @classmethod
    def initial_of(cls, definition: Mapping[str, Any]) -> dict[str, Any]:
        limits = definition.get("limits", {})
        rate = limits.get("pass_rate")
        script = {
            n: v for n, v in definition.get("script", {}).items() if v in ("by_match", "stop")
        }
        return {
            **{name: definition.get(name, "") for name in ("title", "incident", "notes")},
            **script,
            **limits,
            "percent": None if rate is None else plain(round(rate * HUNDRED, 6)),
        }


class CaseEditor:
    """The rows of one page. Made of suggestions, of a definition, or of what a page sent."""

    def __init__(self, head: HeadForm) -> None:
        self.head = head
        self.expectations: list[Expectation] = []
        self.mocks: list[MockRow] = []
        self.branches: list[BranchRow] = []

    @classmethod
    def of(
        cls,
        definition: Mapping[str, Any],
        suggestions: Iterable[Suggestion] = (),
        offers: Iterable[Mapping[str, Any]] = (),
        *,
        choose: bool = False,
    ) -> CaseEditor:
        """The page of a definition, with what else may be expected, off: or, with `choose`, on
        where a finding asks for it. `offers` are mocks that may be wanted; they are off.
        """
        editor = cls(HeadForm(initial=HeadForm.initial_of(definition), prefix="head"))
        for entry in definition.get("expect", ()):
            editor._expect(entry, on=True)
        held = {(row["id"].value(), row.name) for row in editor.expectations}
        for suggestion in suggestions:
            entry = {**suggestion.expectation, "because": suggestion.because}
            if (entry["id"], entry["kind"]) not in held:
                editor._expect(entry, on=choose and suggestion.chosen)
        for entry in definition.get("mocks", ()):
            editor._mock(MockRow.initial_of(entry))
        mocked = {row["tool"].value() for row in editor.mocks}
        for entry in offers:
            if entry["tool"] not in mocked:
                editor._mock({**MockRow.initial_of(entry), "on": False})
        for entry in definition.get("branches", ()):
            editor._branch(entry)
        return editor

    @classmethod
    def sent(cls, post: Mapping[str, Any]) -> CaseEditor:
        """The page as it was sent. Rows beyond what the format allows are not read."""
        editor = cls(HeadForm(post, prefix="head"))
        for at in range(_count(post, "expectations")):
            row = KINDS.get(post.get(f"e{at}-kind", ""))
            if row is not None:
                editor.expectations.append(row(post, prefix=f"e{at}"))
        for at in range(_count(post, "mocks")):
            editor.mocks.append(MockRow(post, prefix=f"m{at}"))
        for at in range(_count(post, "branches")):
            branch = BranchRow(post, prefix=f"b{at}")
            branch.replies = [
                ReplyForm(post, prefix=f"b{at}r{n}")
                for n in range(_count(post, f"b{at}-replies", MOST_REPLIES))
            ]
            editor.branches.append(branch)
        return editor

    def add(self, what: str, kind: str = "") -> None:
        """One more row: "expectation" (of a kind), "mock", "branch", or "reply-<branch>"."""
        if what == "expectation" and kind in KINDS and len(self.expectations) < MOST_ROWS:
            self._expect({"kind": kind}, on=True)
        elif what == "mock" and len(self.mocks) < MOST_ROWS:
            self._mock({"on": True})
        elif what == "branch" and len(self.branches) < MOST_ROWS:
            self._branch({"when": {}, "replies": [{}]})
        elif match := re.fullmatch(r"reply-(\d{1,3})", what):
            self._reply(int(match[1]))

    def is_valid(self) -> bool:
        # All of them, so that each says what is wrong with it.
        wrong = [form for form in (self.head, *self.rows()) if not form.is_valid()]
        return not wrong and any(row.is_on for row in self.expectations)

    def rows(self) -> Iterator[Row]:
        yield from self.expectations
        yield from self.mocks
        yield from self.branches

    def wrong(self) -> Iterator[tuple[str, str, str]]:
        """(where, what, anchor) of each thing that does not fit, in words."""
        for name, errors in self.head.errors.items():
            field = self.head[name]
            yield from ((str(field.label), str(error), field.auto_id) for error in errors)
        if not any(row.is_on for row in self.expectations):
            nothing = "Switch one on: a case that expects nothing cannot fail."
            yield "What must hold", nothing, "expectations"
        places: tuple[tuple[str, Sequence[Row]], ...] = (
            ("What must hold", self.expectations),
            ("Tool mock", self.mocks),
            ("Branch", self.branches),
        )
        for where, rows in places:
            for at, row in enumerate(rows, 1):
                for label, error in row.told_errors():
                    yield f"{where} {at}{', ' + label if label else ''}", error, f"row-{row.prefix}"
        for at, branch in enumerate(self.branches, 1):
            if branch.is_on:
                for n, reply in enumerate(branch.replies, 1):
                    for name, errors in reply.errors.items():
                        place = f"Branch {at}, reply {n}, {reply[name].label}"
                        yield from ((place, str(each), f"row-{branch.prefix}") for each in errors)

    def definition(self) -> dict[str, Any]:
        """What is filled in, as the file has it; only of a form that is valid."""
        used: set[str] = set()
        expect = []
        for row in self.expectations:
            if row.is_on:
                expect.append(row.entry(_ident(row, used)))
        mocks = [row.entry() for row in self.mocks if row.is_on]
        branches = [row.entry() for row in self.branches if row.is_on]
        head = self.head.entries()
        whole = {**head, "expect": expect, "branches": branches, "mocks": mocks}
        return written_part(whole)

    def _expect(self, entry: Mapping[str, Any], *, on: bool) -> None:
        row = KINDS[entry["kind"]]
        initial = {**row.initial_of(entry), "on": on}
        self.expectations.append(row(initial=initial, prefix=f"e{len(self.expectations)}"))

    def _mock(self, initial: Mapping[str, Any]) -> None:
        self.mocks.append(MockRow(initial=dict(initial), prefix=f"m{len(self.mocks)}"))

    def _branch(self, entry: Mapping[str, Any]) -> None:
        prefix = f"b{len(self.branches)}"
        branch = BranchRow(initial=BranchRow.initial_of(entry), prefix=prefix)
        branch.replies = [
            ReplyForm(initial=ReplyForm.initial_of(reply), prefix=f"{prefix}r{n}")
            for n, reply in enumerate(entry["replies"])
        ]
        self.branches.append(branch)

    def _reply(self, at: int) -> None:
        if at < len(self.branches) and len(self.branches[at].replies) < MOST_REPLIES:
            replies = self.branches[at].replies
            replies.append(ReplyForm(prefix=f"b{at}r{len(replies)}"))


def _count(post: Mapping[str, Any], name: str, most: int = MOST_ROWS) -> int:
    said = str(post.get(name, ""))
    return min(int(said), most) if said.isascii() and said.isdigit() and len(said) < 5 else 0


def _named(name: str, value: Any) -> dict[str, Any]:
    return {name: value} if value else {}


def _ident(row: Expectation, used: set[str]) -> str:
    """The row's own id, or one made of its kind and tool; each once."""
    tool = str(row.cleaned_data.get("tool") or "")
    wanted = row.cleaned_data["id"] or (ident(row.name, tool) if tool else row.name)
    wanted = re.sub(r"[^A-Za-z0-9_.:-]", "_", wanted)[:190]
    name, number = wanted, 1
    while name in used:
        number += 1
        name = f"{wanted}-{number}"
    used.add(name)
    return name
