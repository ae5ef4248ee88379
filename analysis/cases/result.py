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
from analysis.cases.harness.reading import LARGEST_TRANSCRIPT
from analysis.cases.parts import storable
from transcripts.importers.fields import FieldError
from transcripts.importers.native_run import read_run

MOST_SAID = 2**31 - 1
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
    return {**result, "each": each, "replays": read_replays(result)}


def read_replays(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the replays of a result said: {run, state, record | left_out (characters)} of each.

    Raises CaseError that says where.
    """
    states = {run["run"]: run["state"] for run in result["each"]}
    replays: list[dict[str, Any]] = []
    for at, replay in enumerate(result.get("replays", ())):
        place, number = f"$.replays[{at}]", replay["run"]
        if number not in states:
            raise CaseError(f"{place}.run: each lists no run {number}")
        if any(number == known["run"] for known in replays):
            raise CaseError(f"{place}.run: run {number} is there twice")
        told = {"run": number, "state": states[number]}
        transcript = replay.get("transcript")
        size = len(json.dumps(transcript)) if transcript else replay.get("left_out", 1)
        if transcript is None or size > LARGEST_TRANSCRIPT:
            replays.append({**told, "left_out": min(size, MOST_SAID)})
            continue
        try:
            record = read_run(storable(transcript), "replay", f"{place}.transcript")
        except FieldError as error:
            raise CaseError(f"{error.field}: {error.error}") from None
        replays.append({**told, "record": record})
    return replays


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
