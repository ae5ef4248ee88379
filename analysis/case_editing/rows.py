"""What all rows of the page share: on or off, a sentence with inputs in it, fields of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.utils import ErrorDict

INPUT = re.compile(r"\{(\w+)\}")
LONGEST_NAME, LONGEST_TEXT, LONGEST_PATTERN = 500, 20_000, 1_000


class Row(forms.Form):
    """One row. One that is off is not read, so that it may stay half filled in.

    `sentence` says where the inputs stand in it: "At most {rounds} rounds".
    """

    on = forms.BooleanField(required=False, label="holds")
    use_required_attribute = False
    sentence: ClassVar[str] = ""

    @property
    def is_on(self) -> bool:
        return bool(self["on"].value())

    def full_clean(self) -> None:
        if self.is_bound and not self.is_on:
            self._errors = ErrorDict()
            self.cleaned_data: dict[str, Any] = {}
            return
        super().full_clean()

    def pieces(self) -> Iterator[Any]:
        """The sentence's words and inputs, in order; an input has `field`."""
        at = 0
        for match in INPUT.finditer(self.sentence):
            if words := self.sentence[at : match.start()].strip():
                yield words
            yield self[match[1]]
            at = match.end()
        if words := self.sentence[at:].strip():
            yield words

    def told_errors(self) -> Iterator[tuple[str, str]]:
        """(label, error) of each field that does not fit."""
        for name, errors in self.errors.items():
            label = "" if name == NON_FIELD_ERRORS else self[name].label
            for error in errors:
                yield str(label), str(error)


class NamesField(forms.CharField):
    """Names with commas between them, as a list."""

    def to_python(self, value: Any) -> Any:
        return [name for part in (value or "").split(",") if (name := part.strip())]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, (list, tuple)) else value

    def validate(self, value: Any) -> None:
        super().validate(value)
        if any(len(name) > LONGEST_NAME for name in value):
            raise forms.ValidationError(f"A name has at most {LONGEST_NAME} characters.")

    def run_validators(self, value: Any) -> None:
        """Those of a text would ask a list for its length."""


class NumbersField(forms.CharField):
    """Whole numbers from 1 with commas between them, as a list."""

    def to_python(self, value: Any) -> Any:
        parts = [part.strip() for part in (value or "").split(",") if part.strip()]
        if not all(part.isascii() and part.isdigit() and 0 < int(part) < 10**6 for part in parts):
            raise forms.ValidationError("Whole numbers from 1, with commas between them.")
        return [int(part) for part in parts]

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value

    def run_validators(self, value: Any) -> None:
        """Those of a text would ask a list for its length."""


class ArgumentsField(forms.CharField):
    """A JSON object; None where nothing is said."""

    def to_python(self, value: Any) -> Any:
        text = (value or "").strip()
        return read_object(text) if text else None

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value

    def run_validators(self, value: Any) -> None:
        """Those of a text would ask an object for its length."""


class PatternField(forms.CharField):
    """A regular expression."""

    def validate(self, value: Any) -> None:
        super().validate(value)
        try:
            re.compile(value)
        except re.error as error:
            raise forms.ValidationError(f"No regular expression: {error}.") from None


def read_object(text: str) -> dict[str, Any]:
    """A JSON object of a text. Raises `ValidationError` that says what is wrong."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise forms.ValidationError(f"Not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise forms.ValidationError('A JSON object, as {"employee_id": 7302}.')
    return value


def filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields without those that say nothing."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def plain(number: float | None) -> float | int | None:
    """A number as people write it: 12 and not 12.0."""
    if number is None:
        return None
    return int(number) if float(number).is_integer() else float(number)


def tool_input() -> forms.TextInput:
    return forms.TextInput(attrs={"list": "case-tools", "size": 24, "autocomplete": "off"})
