"""What a case must look like for this harness; Agentdesk's own check by JSON Schema says more.

A shape is a type or several, a list of one shape, a set of allowed texts, or a dict of fields. A
name that ends in `?` may be left out. `*` lets other names through, and nulls, as in a run; all
else is refused by name, so that a typing error does not pass as an expectation.
"""

from __future__ import annotations

import re
from typing import Any

from analysis.cases.harness.reading import ENDINGS, SCHEMA, CaseError
from analysis.cases.harness.tools import MOCKS, RAISES

NUMBER = (int, float)
NAMES = [str]
PATTERN = re.compile  # a text that is a regular expression
COMMON = {"id?": str, "kind": str, "because?": str}
EXPECTATIONS: dict[str, dict[str, Any]] = {
    "ending": {"in": [frozenset(ENDINGS)]},
    "max_rounds": {"rounds": int},
    "max_cost": {"cost": NUMBER},
    "max_seconds": {"seconds": NUMBER},
    "no_identical_call": {"times?": int, "except?": NAMES},
    "no_empty_result": {"except?": NAMES},
    "must_call": {"tool": str, "args?": dict},
    "must_not_call": {"tool": str, "args?": dict},
    "no_retry_after_failure": {"tool": str, "any_args?": bool},
    "final_reply": {"contains?": str, "lacks?": str, "matches?": PATTERN},
    "ticket_in_every_input": {"text?": str},
    "detectors_silent": {"detectors": NAMES},
}
KINDS = tuple(EXPECTATIONS)
CALL = {"id?": str, "name": str, "args?": (dict, str)}
REPLY = {
    "text?": str, "calls?": [CALL], "stop?": str, "stop_raw?": str, "error?": str, "cost?": NUMBER,
    "tokens_in?": int, "tokens_out?": int, "duration_ms?": NUMBER,
}  # fmt: skip
WHEN = {
    "round?": int, "result_of?": str, "contains?": str, "matches?": PATTERN, "empty?": bool,
    "error?": bool,
}  # fmt: skip
BRANCH = {
    "when": WHEN, "replies": [REPLY], "then?": frozenset(("end", "resume")), "note?": str,
}  # fmt: skip
MOCK = {
    "tool": str, "answer": MOCKS, "args?": dict, "calls?": [int], "text?": str, "seconds?": NUMBER,
    "as?": frozenset(("raise", "result")), "raises?": frozenset(RAISES), "note?": str,
}  # fmt: skip
ROUND = {
    "round": int, "calls?": [{"name": str, "*": None}], "cost?": NUMBER, "duration_ms?": NUMBER,
    "tokens_in?": int, "tokens_out?": int, "input?": {"added?": list, "*": None},
    "messages?": [dict], "*": None,
}  # fmt: skip
CASE: dict[str, Any] = {
    "schema": str, "case_id?": str, "title?": str, "agent?": str, "incident?": str,
    "from_run?": str, "made_at?": str, "notes?": str, "masked?": dict,
    "expect": [{"kind": frozenset(KINDS), "*": None}], "branches?": [BRANCH], "mocks?": [MOCK],
    "script?": {
        "replies?": frozenset(("in_order", "by_match")), "otherwise?": frozenset(("next", "stop")),
        "unrecorded?": frozenset(("fail", "stop")),
    },
    "limits?": {"rounds?": int, "seconds?": NUMBER, "pass_rate?": NUMBER},
    "run": {
        "rounds": [ROUND], "messages?": [{"*": None}], "tools?": [{"name": str, "*": None}],
        "*": None,
    },
}  # fmt: skip


def check_case(case: Any) -> None:
    """Raise CaseError, with the place, for what this harness cannot replay."""
    schema = case.get("schema") if isinstance(case, dict) else None
    if not isinstance(schema, str) or not schema.startswith("agentdesk.case/"):
        raise CaseError(f"not a test case: its schema is {schema!r}, not {SCHEMA!r}")
    if schema != SCHEMA:
        raise CaseError(
            f"made by another version: it is {schema!r} and this one reads {SCHEMA!r}."
            " Replay it with the harness that came with it, or export it again"
        )
    check_shape(case, CASE, "")
    if not case["run"]["rounds"]:
        raise CaseError("run.rounds: no rounds to replay")
    for at, expectation in enumerate(case["expect"]):
        fields = {**COMMON, **EXPECTATIONS[expectation["kind"]]}
        check_shape(expectation, fields, f"expect[{at}]")


def check_shape(value: Any, shape: Any, where: str) -> None:
    """Raise CaseError where `value` does not have the shape."""
    if isinstance(shape, dict):
        check_fields(value, shape, where)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise CaseError(f"{where}: expected a list")
        for at, entry in enumerate(value):
            check_shape(entry, shape[0], f"{where}[{at}]")
    elif isinstance(shape, frozenset):
        if not isinstance(value, str) or value not in shape:
            raise CaseError(f"{where}: {value!r} is not one of {', '.join(sorted(shape))}")
    elif shape is PATTERN:
        check_shape(value, str, where)
        try:
            re.compile(value)
        except re.error as error:
            raise CaseError(f"{where}: no regular expression: {error}") from None
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is not bool):
        kinds = shape if isinstance(shape, tuple) else (shape,)
        raise CaseError(f"{where}: expected {' or '.join(kind.__name__ for kind in kinds)}")


def check_fields(value: Any, shape: dict[str, Any], where: str) -> None:
    if not isinstance(value, dict):
        raise CaseError(f"{where}: expected an object")
    known = {name.rstrip("?"): (name.endswith("?"), kind) for name, kind in shape.items()}
    unknown = [] if "*" in shape else [name for name in value if name not in known]
    if unknown:
        raise CaseError(f"{where or 'case'}: {unknown[0]!r} is not known here")
    for name, (optional, kind) in known.items():
        if name == "*":
            continue
        if name in value and not (optional and "*" in shape and value[name] is None):
            check_shape(value[name], kind, f"{where}.{name}" if where else name)
        elif not optional:
            raise CaseError(f"{where or 'case'}: {name} is missing")
