"""What msgspec really says of real values, in words."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from transcripts.importers.expectations import in_words


class _Call(msgspec.Struct):
    name: str


@pytest.mark.parametrize(
    ("value", "type_", "words"),
    [
        pytest.param("x", int, "expected a whole number, got text", id="kind"),
        pytest.param("x", bool | None, "expected true, false or null, got text", id="yes or no"),
        pytest.param(
            "x", float | None, "expected a number or null, got text", id="one of two kinds"
        ),
        pytest.param(
            [], int | str | None, "expected a whole number, text or null, got a list",
            id="one of three kinds",
        ),
        pytest.param(
            0, Annotated[int, Meta(ge=1)], "expected a whole number of 1 or more", id="at least"
        ),
        pytest.param(
            2.0, Annotated[float, Meta(le=1.5)], "expected a number of 1.5 or less", id="at most"
        ),
        pytest.param(
            0.5, Annotated[float, Meta(gt=0.5)], "expected a number above 0.5", id="more than"
        ),
        pytest.param(
            "abc", Annotated[str, Meta(max_length=2)], "expected text of 2 characters or less",
            id="long text",
        ),
        pytest.param(
            "", Annotated[str, Meta(min_length=1)], "expected text of 1 character or more",
            id="no text",
        ),
        pytest.param(
            [], Annotated[list[int], Meta(min_length=2)], "expected a list of 2 entries or more",
            id="short list",
        ),
        pytest.param({}, _Call, 'the field "name" is missing', id="missing"),
        pytest.param(
            "soon", datetime, "expected a date with a time, as 2026-09-28T10:02:00Z", id="moment"
        ),
        pytest.param(
            "a.b", Annotated[str, Meta(pattern="^a$")], "expected \"str\" matching regex '^a$'",
            id="what has no words",
        ),
    ],
)  # fmt: skip
def test_says_what_fits_in_plain_words(value: Any, type_: Any, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as said:
        msgspec.convert(value, type_)

    assert in_words(str(said.value)) == words
