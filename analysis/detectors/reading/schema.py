"""JSON Schema for tool arguments (Draft 2020-12), safe against schemas written to do harm.

Apart from `arguments` so that `jsonschema` is loaded only when a run holds schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from analysis.detectors.reading.words import excerpt, listing, quoted

# References that one check follows; a schema can be written to refer to itself without end.
MOST_REFERENCES = 500
MOST_ERRORS = 20

_QUIET = re2.Options()
_QUIET.log_errors = False


class _TooManyReferencesError(Exception):
    pass


class SchemaCheck:
    """One tool's schema. Raises ValueError when it is no schema.

    Patterns run in re2; a pattern that it cannot read is not checked. References outside the
    schema are not followed.
    """

    def __init__(self, schema: Any) -> None:
        if not isinstance(schema, dict) or "patternProperties" in str(schema):
            # Names by pattern are matched by `jsonschema` itself, in time that a schema can make
            # endless.
            raise ValueError("a schema that is not checked")
        self._references = 0
        cls = extend(  # type: ignore[no-untyped-call]
            Draft202012Validator,
            {
                "pattern": _pattern,
                "$ref": self._counted("$ref"),
                "$dynamicRef": self._counted("$dynamicRef"),
            },
        )
        self._validator = cls(schema, registry=Registry())

    def first_error(self, args: Any) -> str | None:
        """The error that tells most, in a sentence's end; None where `args` fit, or cannot be
        checked.
        """
        self._references = 0
        try:
            errors = [
                each
                for _, each in zip(
                    range(MOST_ERRORS), self._validator.iter_errors(args), strict=False
                )
            ]
        except (
            _TooManyReferencesError,
            Unresolvable,
            RecursionError,
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
        ):
            # A schema that cannot be used says nothing about the arguments.
            return None
        missing = [each for each in errors if each.validator == "required"]
        if missing:
            return _missing(missing)
        best = best_match(errors)
        return _in_words(best) if best is not None else None

    def _counted(self, keyword: str) -> Any:
        follow = Draft202012Validator.VALIDATORS[keyword]

        def check(
            validator: Any, reference: Any, instance: Any, schema: Any
        ) -> Iterator[ValidationError]:
            self._references += 1
            if self._references > MOST_REFERENCES:
                raise _TooManyReferencesError
            yield from follow(validator, reference, instance, schema)

        return check


def _missing(errors: list[ValidationError]) -> str:
    # jsonschema names the field only in its message: "'owner' is a required property"
    names = [
        str(each.message).rsplit(" is a required property", 1)[0].strip("'") for each in errors
    ]
    return f"{listing(list(dict.fromkeys(names))[:5])} {'is' if len(names) == 1 else 'are'} missing"


def _in_words(error: ValidationError) -> str:
    place = error.json_path.removeprefix("$").lstrip(".")
    return f"{place + ': ' if place else ''}{quoted(str(error.message), 160)}"


def _search(pattern: str, text: str) -> bool:
    try:
        return re2.search(pattern, text, _QUIET) is not None
    except (re2.error, UnicodeError):
        return True


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and isinstance(pattern, str) and not _search(pattern, instance):
        yield ValidationError(f"{excerpt(instance, 60)!r} does not match {excerpt(pattern, 60)!r}")
