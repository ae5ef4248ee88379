"""A case taken apart: what people write of it, and the recording, which stays as it is.

The server keeps the two apart, so that a change of what must hold stores no transcript again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from analysis.cases.harness.tally import digest

# What people write, in the order of the file.
WRITTEN = ("title", "incident", "notes", "expect", "branches", "mocks", "script", "limits")
# A database keeps neither: NUL, and halves of a pair.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def written_part(case: Mapping[str, Any]) -> dict[str, Any]:
    """What people wrote of a case; what is empty is left out, but for `expect`."""
    return {
        name: case[name] for name in WRITTEN if name in case and (case[name] or name == "expect")
    }


def case_digest(case: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a case, as the harness writes it into its results."""
    return digest(case)


def storable(value: Any) -> Any:
    """A JSON value from outside whose every text a database can keep."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {storable(name): storable(child) for name, child in value.items()}
    if isinstance(value, list):
        return [storable(child) for child in value]
    return value
