"""A case as the replay reads it: what it refuses, and what the recorded run was shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.cases.harness.checking import check_case
from analysis.cases.harness.messages import text_of
from analysis.cases.harness.reading import LARGEST_CASE, CaseError


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


def recorded_inputs(run: Mapping[str, Any]) -> list[list[dict[str, str]]]:
    """What each round added to its input, as {"role", "content"}; without replies and results."""
    by_key = {str(message.get("key")): message for message in run.get("messages") or []}
    inputs = []
    seen = 0
    for entry in run["rounds"]:
        added: list[Any] = []
        if isinstance(entry.get("messages"), list):
            added = entry["messages"][seen:]
            seen = len(entry["messages"])
        elif isinstance(entry.get("input"), dict):
            for placed in entry["input"].get("added") or []:
                key = placed.get("key") if isinstance(placed, dict) else placed
                added.append(by_key.get(str(key), {}))
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
