"""Judging a run: one function a kind of expectation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from analysis.cases.harness.calls import Made, calls_made
from analysis.cases.harness.reading import READS_FAILED, brief, canonical, covers, folded, is_empty
from analysis.cases.harness.recorded import needles
from analysis.cases.harness.trace import Trace

Judgement = tuple[str, str]  # (state, why); the state is passed, failed or not_judged


def _as(passed: bool, why: str) -> tuple[str, str]:
    return ("passed" if passed else "failed"), why


def judge_ending(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    told = f"{trace.ending.replace('_', ' ')} at round {trace.number}"
    if trace.ending == "open":
        told = trace.reason
    elif trace.reason:
        told += f": {trace.reason}"
    return _as(trace.ending in wanted["in"], told)


def judge_rounds(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    return _as(len(trace.rounds) <= wanted["rounds"], f"{len(trace.rounds)} rounds")


def judge_cost(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    costs = [entry["cost"] for entry in trace.rounds]
    known = math.fsum(cost for cost in costs if cost is not None)
    unknown = [str(entry["round"]) for entry in trace.rounds if entry["cost"] is None]
    currency = case["run"].get("currency") or ""
    told = f"{known:g} {currency}".strip()
    if known <= float(wanted["cost"]) and unknown:
        return "not_judged", f"rounds {', '.join(unknown[:8])} carry no cost; the others: {told}"
    return _as(known <= float(wanted["cost"]), told)


def judge_seconds(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    """Recorded durations of the replies given, and the time that the loop itself took."""
    recorded = math.fsum(entry["duration_ms"] or 0 for entry in trace.rounds) / 1000
    total = recorded + trace.seconds
    return _as(total <= wanted["seconds"], f"{total:.1f} s, of them {recorded:.1f} s as recorded")


def judge_identical(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    times = wanted.get("times", 3)
    exempt = set(wanted.get("except", ()))
    streaks: dict[str, tuple[Any, int]] = {}
    for call in calls_made(trace):
        if call.name in exempt:
            continue
        answer = folded(call.text if call.text is not None else (call.shown or {}).get("text", ""))
        before, count = streaks.get(call.key, (None, 0))
        count = count + 1 if before == answer else 1
        streaks[call.key] = (answer, count)
        if count == times:
            told = f"round {call.round}: {call.name} {brief(canonical(call.args))}, call {count}"
            return "failed", f"{told} with the same arguments and an unchanged result"
    return "passed", f"no call {times} times with the same arguments and an unchanged result"


def judge_empty(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    exempt = set(wanted.get("except", ()))
    for call in calls_made(trace):
        if call.name in exempt or call.shown is None:
            continue
        text = call.shown["text"]
        if is_empty(text):
            where = f"round {call.round}: an empty result of {call.name} reached the model"
            return "failed", f"{where}{behind_it(call)}"
        if call.raised and not call.shown["is_error"] and not READS_FAILED.search(text):
            said = brief(call.text or "")
            return "failed", (
                f"round {call.round}: {call.name} failed ({said}) and the model read: {brief(text)}"
            )
    return "passed", "every result that reached the model says something"


def behind_it(call: Made) -> str:
    """What the tool itself had answered where the model read nothing."""
    if call.text and call.raised:
        return f"; the tool had said: {brief(call.text)}"
    if call.text is not None and is_empty(call.text):
        return "; so the record has it: a mock can give what the tool really answers"
    return ""


def judge_must_call(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    for call in calls_made(trace):
        if call.name == wanted["tool"] and covers(wanted.get("args"), call.args):
            return "passed", f"{call.name} called in round {call.round}"
    return "failed", f"{wanted['tool']} was not called"


def judge_must_not_call(
    wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]
) -> Judgement:
    state, why = judge_must_call(wanted, trace, case)
    return _as(state == "failed", why)


def judge_retry(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    """A retry is a later call with the same arguments, or any of the tool (`any_args`)."""
    failed: dict[str, int] = {}
    for call in calls_made(trace):
        if call.name != wanted["tool"]:
            continue
        key = call.name if wanted.get("any_args") else call.key
        if key in failed:
            return (
                "failed",
                f"round {call.round}: {call.name} again after it failed in round {failed[key]}",
            )
        if call.failed:
            failed[key] = call.round
    return "passed", f"{wanted['tool']} not tried again after a failure"


def judge_final_reply(
    wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]
) -> Judgement:
    final = trace.final or (trace.rounds[-1]["reply"] if trace.rounds else "")
    told = f"the final reply is: {brief(final)}" if final.strip() else "there is no final reply"
    if (
        "contains" in wanted
        and folded(wanted["contains"]).casefold() not in folded(final).casefold()
    ):
        return "failed", told
    if "lacks" in wanted and folded(wanted["lacks"]).casefold() in folded(final).casefold():
        return "failed", told
    return _as("matches" not in wanted or bool(re.search(wanted["matches"], final)), told)


def judge_ticket(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    all_of_them = [e for e in case["expect"] if e["kind"] == "ticket_in_every_input"]
    at = next((i for i, expectation in enumerate(all_of_them) if expectation is wanted), 0)
    if not needles(case)[at].strip():
        return "not_judged", "the run does not say what the ticket is: set the expectation's text"
    for number, holds in enumerate(trace.holds[: len(trace.rounds)], 1):
        if not holds[at]:
            return "failed", f"round {number}: the ticket is not in what the model reads"
    return "passed", f"the ticket is in the input of all {len(trace.rounds)} rounds"


def judge_detectors(wanted: Mapping[str, Any], trace: Trace, case: Mapping[str, Any]) -> Judgement:
    names = ", ".join(wanted["detectors"])
    return "not_judged", f"needs Agentdesk's detectors ({names}): ./desk replay judges this one"


JUDGES: dict[str, Callable[..., Any]] = {
    "ending": judge_ending,
    "max_rounds": judge_rounds,
    "max_cost": judge_cost,
    "max_seconds": judge_seconds,
    "no_identical_call": judge_identical,
    "no_empty_result": judge_empty,
    "must_call": judge_must_call,
    "must_not_call": judge_must_not_call,
    "no_retry_after_failure": judge_retry,
    "final_reply": judge_final_reply,
    "ticket_in_every_input": judge_ticket,
    "detectors_silent": judge_detectors,
}


def told(wanted: Mapping[str, Any]) -> str:
    """An expectation in words."""
    kind = wanted["kind"]
    tool = wanted.get("tool", "")
    if wanted.get("args") is not None:
        tool += f" {brief(canonical(wanted['args']), 60)}"
    words = {
        "ending": "ends " + " or ".join(e.replace("_", " ") for e in wanted.get("in", [])),
        "max_rounds": f"at most {wanted.get('rounds')} rounds",
        "max_cost": f"costs at most {wanted.get('cost')}",
        "max_seconds": f"takes at most {wanted.get('seconds')} s",
        "no_identical_call": f"no call is made {wanted.get('times', 3)} times alike",
        "no_empty_result": "no empty or swallowed result reaches the model",
        "must_call": f"calls {tool}",
        "must_not_call": f"does not call {tool}",
        "no_retry_after_failure": f"no retry of {tool} after it failed",
        "final_reply": " and ".join(
            f"{verb} {brief(wanted[verb], 60)!r}"
            for verb in ("contains", "lacks", "matches")
            if verb in wanted
        ),
        "ticket_in_every_input": "the ticket is in every input",
        "detectors_silent": "silent: " + ", ".join(wanted.get("detectors", [])),
    }
    return "final reply " + words[kind] if kind == "final_reply" else words[kind]
