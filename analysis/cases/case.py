"""The test case `agentdesk.case/1`: a masked run, and what must hold when it is replayed.

Made of a masked run, read with a full check, written so that a person can read it and a diff shows
what changed: keys in a fixed order, one line for each small thing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from analysis.cases.harness import LARGEST_CASE, SCHEMA, CaseError, check_case
from transcripts.export.native import native_text
from transcripts.masking.types import MaskedRun
from transcripts.record import Round, RunRecord, Stop, completeness

SCHEMA_FILE = Path(__file__).with_name("case.schema.json")
WIDTH = 100  # characters of a line, as in the code
MOST_REASONS = 8  # of what is missing in a run; the rest is counted
# What would make a line look other than it is: controls, zero-width and direction marks.
UNSEEN = re.compile("[\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def case_from_run(
    run: MaskedRun,
    *,
    case_id: str,
    expect: Sequence[Mapping[str, Any]],
    branches: Sequence[Mapping[str, Any]] = (),
    mocks: Sequence[Mapping[str, Any]] = (),
    script: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    incident: str = "",
    notes: str = "",
    made_at: datetime | None = None,
) -> dict[str, Any]:
    """Make a case. Raises CaseError where the run is too incomplete, or an entry does not fit.

    `incident` and `notes` are written as they are given: hand over masked text.
    """
    record = run.record
    missing = missing_for_replay(record)
    if missing:
        raise CaseError(f"the run is too incomplete to replay: {listed(missing)}")
    head = {
        "title": record.title,
        "agent": record.agent,
        "incident": incident,
        "from_run": record.run_id,
        "made_at": made_at.isoformat() if made_at else "",
        "notes": notes,
    }
    case: dict[str, Any] = {"schema": SCHEMA, "case_id": case_id}
    case |= {name: value for name, value in head.items() if value}
    case["masked"] = {"rule_set": run.receipt.rule_set, "hits": dict(run.receipt.hits)}
    case["expect"] = [dict(expectation) for expectation in expect]
    for name, entries in (("branches", branches), ("mocks", mocks)):
        if entries:
            case[name] = [dict(entry) for entry in entries]
    for name, chosen in (("script", script), ("limits", limits)):
        if chosen:
            case[name] = dict(chosen)
    case["run"] = json.loads(native_text(record))
    check(case)
    return case


def missing_for_replay(run: RunRecord) -> tuple[str, ...]:
    """What keeps a run from being replayed, round by round; empty where nothing does.

    The calls of the last round may be unanswered: the recorded run went no further.
    """
    if not run.rounds:
        return ("it has no rounds",)
    reasons = [
        f"round {first} is missing" if first == last else f"rounds {first} to {last} are missing"
        for first, last in completeness(run).gaps
    ]
    last_number = run.rounds[-1].number
    for round_ in run.rounds:
        reasons.extend(missing_in(round_, last=round_.number == last_number))
    return tuple(reasons)


def missing_in(round_: Round, *, last: bool) -> Iterator[str]:
    if round_.stop == Stop.WANTS_TOOL and not round_.calls:
        yield f"round {round_.number} wanted a tool, and no call of it was recorded"
    for at, call in enumerate(round_.calls):
        if call.result is None and not last:
            yield f"round {round_.number}, call {at + 1} ({call.name}) has no result"
    for orphan in round_.orphans:
        yield f"round {round_.number}: the result {orphan.call_id or '(no id)'} answers no call"


def listed(reasons: Sequence[str]) -> str:
    more = len(reasons) - MOST_REASONS
    return "; ".join(reasons[:MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")


def read_case(content: bytes | str) -> dict[str, Any]:
    """Read a case and check it against its schema. Raises CaseError that says where."""
    case = load_json(content)
    check(case)
    return case  # type: ignore[no-any-return]


def load_json(content: bytes | str) -> Any:
    """A JSON value from outside. Raises CaseError for what is too large, too deep, or none."""
    if len(content) > LARGEST_CASE:
        raise CaseError(f"larger than {LARGEST_CASE // 1024 // 1024} MB")
    try:
        return json.loads(content, parse_constant=refuse_constant)
    except RecursionError:
        raise CaseError("nested too deeply") from None
    except ValueError as error:
        raise CaseError(f"not JSON: {error}") from None


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def check(case: Any) -> None:
    """Raise CaseError where a case does not fit: future version, wrong field, broken pattern."""
    schema = case.get("schema") if isinstance(case, dict) else None
    if schema == SCHEMA:
        found = problems(case)
        if found:
            raise CaseError(listed(found))
    check_case(case)


def problems(case: Mapping[str, Any]) -> list[str]:
    """What does not fit the schema, as "place: what"; and ids that are there twice."""
    found = places(validator(), case)
    return found or [*twice(case["expect"]), *patterns(case)]


def places(checker: Draft202012Validator, value: Any) -> list[str]:
    """What does not fit a schema, as "place: what", in the order of the places."""
    try:
        errors = sorted(checker.iter_errors(value), key=lambda error: list(map(str, error.path)))
    except RecursionError:
        return ["$: nested too deeply"]
    return [f"{place(error)}: {said(error)}" for error in errors]


@cache
def schema_of_cases() -> dict[str, Any]:
    """The published JSON Schema (Draft 2020-12) of `agentdesk.case/1`."""
    return json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema_of_cases())


def place(error: ValidationError) -> str:
    return "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)


def said(error: ValidationError) -> str:
    """The error without the value where that is long: a case holds whole transcripts."""
    value = json.dumps(error.instance, default=str)
    message = error.message
    if len(value) > WIDTH:
        message = message.replace(repr(error.instance), "this value")
    return message if len(message) <= 3 * WIDTH else f"{message[: 3 * WIDTH]}…"


def twice(expectations: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for at, expectation in enumerate(expectations):
        if expectation["id"] in seen:
            yield f"$.expect[{at}].id: {expectation['id']!r} is there twice"
        seen.add(expectation["id"])


def patterns(case: Mapping[str, Any]) -> Iterator[str]:
    """Patterns that are no regular expressions."""
    held = [
        (f"$.expect[{at}].matches", entry.get("matches"))
        for at, entry in enumerate(case.get("expect", []))
    ] + [
        (f"$.branches[{at}].when.matches", entry["when"].get("matches"))
        for at, entry in enumerate(case.get("branches", []))
    ]
    for where, pattern in held:
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                yield f"{where}: no regular expression: {error}"


def write_case(case: Mapping[str, Any]) -> str:
    """The case as JSON text: keys in the schema's order, a line for each small thing."""
    order = list(schema_of_cases()["properties"])
    return readable({name: case[name] for name in order if name in case}) + "\n"


def readable(value: Any, indent: int = 0) -> str:
    """JSON text in which what fits on a line stands on one; what cannot be seen is escaped."""
    flat = escaped(json.dumps(value, ensure_ascii=False))
    if not isinstance(value, (dict, list)) or not value or indent + len(flat) <= WIDTH:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        names = [escaped(json.dumps(name, ensure_ascii=False)) + ": " for name in value]
        entries = [
            name + readable(entry, indent + 2)
            for name, entry in zip(names, value.values(), strict=True)
        ]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + "\n" + " " * indent + "}"
    entries = [inner + readable(entry, indent + 2) for entry in value]
    return "[\n" + ",\n".join(entries) + "\n" + " " * indent + "]"


def escaped(text: str) -> str:
    return UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
