"""Results that come home, `agentdesk.case-result/1`: read with a full check, and checked for sense.

Texts in a result are of the engineer's own loop and tools: they are masked before they are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from analysis.cases.case import listed, load_json, places
from analysis.cases.harness import CaseError

SCHEMA_FILE = Path(__file__).with_name("result.schema.json")


@cache
def schema_of_results() -> dict[str, Any]:
    """The published JSON Schema (Draft 2020-12) of `agentdesk.case-result/1`."""
    return json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema_of_results())


def read_result(content: bytes | str) -> dict[str, Any]:
    """Read a result. Raises CaseError that says where; what the runs printed is dropped."""
    result = load_json(content)
    found = places(validator(), result) or contradictions(result)
    if found:
        raise CaseError(listed(found))
    each = [{k: v for k, v in run.items() if k != "printed"} for run in result["each"]]
    return {**result, "each": each}


def contradictions(result: Mapping[str, Any]) -> list[str]:
    """Counts that cannot be: a pass rate is drawn from them, so they must add up."""
    found = []
    passed = sum(run["state"] == "passed" for run in result["each"])
    if len(result["each"]) != result["runs"]:
        found.append(f"$.runs: {result['runs']}, and each lists {len(result['each'])}")
    elif passed != result["passed"]:
        found.append(f"$.passed: {result['passed']}, and in each {passed} passed")
    for at, expectation in enumerate(result["expectations"]):
        if not expectation["passed"] <= expectation["runs"] <= result["runs"]:
            found.append(
                f"$.expectations[{at}]: more passed than runs, or more runs than there were"
            )
    return found
