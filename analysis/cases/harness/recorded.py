"""A case as the replay reads it: what it refuses, and what the recorded run was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.cases.harness.messages import text_of
from analysis.cases.harness.reading import LARGEST_CASE, SCHEMA, CaseError
from analysis.cases.harness.tools import MOCKS, RAISES

KINDS = (
    "ending", "max_rounds", "max_cost", "max_seconds", "no_identical_call", "no_empty_result",
    "must_call", "must_not_call", "no_retry_after_failure", "final_reply",
    "ticket_in_every_input", "detectors_silent",
)  # fmt: skip


def load_case(path: Any) -> dict[str, Any]:
    """Read one case file. Raises CaseError, with the file's name, for what is none."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_CASE:
            raise CaseError(f"larger than {LARGEST_CASE // 1024 // 1024} MB")
        return parse_case(path.read_bytes())
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror or error}") from error
    except CaseError as error:
        raise CaseError(f"{path}: {error}") from error


def parse_case(content: bytes) -> dict[str, Any]:
    try:
        case = json.loads(content)
    except RecursionError:
        raise CaseError("nested too deeply") from None
    except ValueError as error:
        raise CaseError(f"not JSON: {error}") from None
    check_case(case)
    return case  # type: ignore[no-any-return]


def check_case(case: Any) -> None:
    """Refuse what this file cannot replay; a full check by JSON Schema is Agentdesk's own."""
    schema = case.get("schema") if isinstance(case, dict) else None
    if not isinstance(schema, str) or not schema.startswith("agentdesk.case/"):
        raise CaseError(f"not a test case: its schema is {schema!r}, not {SCHEMA!r}")
    if schema != SCHEMA:
        raise CaseError(
            f"made by another version: it is {schema!r} and this one reads {SCHEMA!r}."
            " Replay it with the harness that came with it, or export it again"
        )
    rounds = case.get("run", {}).get("rounds") if isinstance(case.get("run"), dict) else None
    if not isinstance(rounds, list) or not rounds or not all(isinstance(r, dict) for r in rounds):
        raise CaseError("run.rounds: no rounds to replay")
    for at, expectation in enumerate(case.get("expect", [])):
        kind = expectation.get("kind") if isinstance(expectation, dict) else None
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise CaseError(f"expect[{at}].kind: {kind!r} is not known; there are: {known}")
    for at, branch in enumerate(case.get("branches", [])):
        if not branch.get("when") or not isinstance(branch.get("replies"), list):
            raise CaseError(f"branches[{at}]: needs when and replies")
    for at, mock in enumerate(case.get("mocks", [])):
        if mock.get("answer") not in MOCKS:
            known = ", ".join(sorted(MOCKS))
            raise CaseError(f"mocks[{at}].answer: {mock.get('answer')!r}; there are: {known}")
        if mock.get("raises", "RuntimeError") not in RAISES:
            known = ", ".join(sorted(RAISES))
            raise CaseError(f"mocks[{at}].raises: {mock['raises']!r}; there are: {known}")


def recorded_inputs(run: Mapping[str, Any]) -> list[list[dict[str, str]]]:
    """What each round added to its input, as {"role", "content"}; without replies and results."""
    by_key = {m["key"]: m for m in run.get("messages", []) if isinstance(m, dict) and "key" in m}
    inputs = []
    seen = 0
    for entry in run["rounds"]:
        added: list[Any] = []
        if isinstance(entry.get("messages"), list):
            added = entry["messages"][seen:]
            seen = len(entry["messages"])
        elif isinstance(entry.get("input"), dict):
            for placed in entry["input"].get("added", []):
                key = placed.get("key") if isinstance(placed, dict) else placed
                added.append(by_key.get(key, {}))
        inputs.append([
            {"role": str(m.get("role")), "content": text_of(m.get("content"))}
            for m in added
            if m.get("role") in ("system", "developer", "user")
            and not m.get("reply_of") and not m.get("result_of")
        ])  # fmt: skip
    return inputs


def ticket_of(run: Mapping[str, Any]) -> str:
    """The text of the first user message that the run read; empty where it does not say."""
    for added in recorded_inputs(run):
        for message in added:
            if message["role"] == "user":
                return message["content"]
    return ""


def needles(case: Mapping[str, Any]) -> list[str]:
    """The texts that rounds' inputs are searched for, in the order of the expectations."""
    return [
        str(expectation.get("text") or ticket_of(case["run"]))
        for expectation in case.get("expect", [])
        if expectation["kind"] == "ticket_in_every_input"
    ]
