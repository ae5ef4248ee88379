"""What must hold when a run is replayed, suggested from its findings; a person edits it.

Each kind of expectation is offered, so that the page shows what there is. `chosen` are those that
a finding asks for; `because` is what an engineer reads beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from analysis.choices import Severity
from analysis.detectors.base import Finding
from analysis.words import detector_title
from transcripts.endings import hands_off, ticket_keys
from transcripts.record import ENDED_BY_ITSELF, Ending, RunRecord, Stop

ROUNDS = 12  # at most so many rounds where nothing says more: the suite's own default limit
REPEATS = ("repeated_call", "alternating_calls", "no_progress", "near_repeat", "unbounded_paging")
SWALLOWED = ("empty_result", "hidden_error", "ok_without_proof", "slow_tool")
OF_THE_MODEL = frozenset(
    ("repeated_reply", "empty_replies", "cut_off_reply", "blocked_reply", "unknown_stop")
)
FAILURES = ("failed_result", "hidden_error", "empty_result", "invalid_arguments")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One expectation of the case format, whether it is chosen at first, and why it is offered."""

    expectation: Mapping[str, Any]
    chosen: bool
    because: str


def suggest(run: RunRecord, findings: Sequence[Finding]) -> tuple[Suggestion, ...]:
    """Suggestions in the order in which a person thinks of them: end, limits, calls, words."""
    return tuple(chain.from_iterable(offer(run, findings) for offer in OFFERS))


def chosen(suggestions: Iterable[Suggestion]) -> list[dict[str, Any]]:
    """The expectations of a case that nobody has edited, each with its `because`."""
    return [
        {**suggestion.expectation, "because": suggestion.because}
        for suggestion in suggestions
        if suggestion.chosen
    ]


def first(findings: Sequence[Finding], *detectors: str) -> Finding | None:
    return next((finding for finding in findings if finding.detector in detectors), None)


def told(finding: Finding) -> str:
    return f"{detector_title(finding.detector)}, round {finding.round}: {finding.why}"


def ending(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    wanted = {
        "id": "ending",
        "kind": "ending",
        "in": [Ending.FINISHED.value, Ending.HANDED_OFF.value],
    }
    if run.ending in ENDED_BY_ITSELF:
        because = f"the recorded run ended {words(run.ending)}"
    else:
        because = f"the recorded run did not end by itself: {words(run.ending)}"
        if finding := first(findings, "never_finished"):
            because = told(finding)
    yield Suggestion(wanted, True, because)


def words(value: Ending | None) -> str:
    return (value or Ending.OPEN).value.replace("_", " ")


def max_rounds(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    finding = first(findings, "round_limit_passed")
    limit = run.limits.rounds or (number(finding.values.get("limit")) if finding else None)
    if limit:
        because = told(finding) if finding else f"the agent's own limit is {limit:g} rounds"
    else:
        limit = max(ROUNDS, len(run.rounds)) if run.ending in ENDED_BY_ITSELF else ROUNDS
        because = f"the recorded run took {len(run.rounds)} rounds"
    wanted = {"id": "max_rounds", "kind": "max_rounds", "rounds": int(limit)}
    yield Suggestion(wanted, finding is not None or run.ending not in ENDED_BY_ITSELF, because)


def max_cost(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    spent = sum((round_.cost for round_ in run.rounds if round_.cost is not None), start=0)
    finding = first(findings, "cost_anomaly")
    limit = number(run.limits.cost) or (number(finding.values.get("limit")) if finding else None)
    if not (limit or spent):
        return
    because = told(finding) if finding else f"the recorded run cost {spent} {run.currency}".strip()
    wanted = {"id": "max_cost", "kind": "max_cost", "cost": limit or float(spent)}
    yield Suggestion(wanted, finding is not None and bool(limit), because)


def max_seconds(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    taken = sum(round_.duration_ms or 0 for round_ in run.rounds) / 1000
    finding = first(findings, "time_limit_passed")
    limit = run.limits.seconds or (number(finding.values.get("limit")) if finding else None)
    if not (limit or taken):
        return
    because = told(finding) if finding else f"the recorded run took {taken:.0f} s"
    wanted = {"id": "max_seconds", "kind": "max_seconds", "seconds": limit or round(taken, 1)}
    yield Suggestion(wanted, finding is not None and bool(limit), because)


def number(value: Any) -> float | None:
    """A limit as detectors and senders write it; None where it is none."""
    try:
        read = float(value)
    except (TypeError, ValueError):
        return None
    return read if read > 0 else None


def no_identical_call(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    finding = first(findings, *REPEATS)
    wanted = {"id": "no_identical_call", "kind": "no_identical_call", "times": 3}
    because = told(finding) if finding else "no call was repeated in the recorded run"
    yield Suggestion(wanted, finding is not None, because)


def no_empty_result(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    finding = first(findings, *SWALLOWED)
    wanted = {"id": "no_empty_result", "kind": "no_empty_result"}
    because = told(finding) if finding else "no result was empty in the recorded run"
    yield Suggestion(wanted, finding is not None, because)


def no_retry_after_failure(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    """One for each tool that failed; chosen where the recorded run did try again."""
    offered: dict[str, tuple[bool, Finding]] = {}
    for finding in findings:
        again = finding.detector == "retried_failure"
        if finding.tool and (again or finding.detector in FAILURES):
            before = offered.get(finding.tool)
            if before is None or (again and not before[0]):
                offered[finding.tool] = (again, finding)
    for tool, (again, finding) in offered.items():
        wanted = {
            "id": ident("no_retry_after_failure", tool),
            "kind": "no_retry_after_failure",
            "tool": tool,
        }
        yield Suggestion(wanted, again, told(finding))


def must_call(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    """The tools that hand the task off, where the agent had one and did not use it."""
    made = {call.name for round_ in run.rounds for call in round_.calls}
    for tool in run.tools:
        if hands_off(tool.name) and tool.name not in made:
            wanted = {"id": ident("must_call", tool.name), "kind": "must_call", "tool": tool.name}
            yield Suggestion(wanted, False, "the agent could hand the task off, and did not")


def must_not_call(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    for tool, finding in {f.tool: f for f in findings if f.detector == "unknown_tool"}.items():
        wanted = {"id": ident("must_not_call", tool), "kind": "must_not_call", "tool": tool}
        yield Suggestion(wanted, True, told(finding))


def ticket(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    if not ticket_keys(run):
        return
    finding = first(findings, "ticket_lost")
    wanted = {"id": "ticket_in_every_input", "kind": "ticket_in_every_input"}
    because = told(finding) if finding else "the ticket was in every input of the recorded run"
    yield Suggestion(wanted, finding is not None, because)


def final_reply(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    """What the recorded run said at its end: to be said again, or not where it was not true."""
    last = run.rounds[-1] if run.rounds else None
    if last is None or last.stop != Stop.FINISHED or not last.reply.strip():
        return
    sentence = re.split(r"(?<=[.!?])\s|\n", last.reply.strip(), maxsplit=1)[0][:300]
    claim = first(findings, "claimed_success")
    verb = "lacks" if claim else "contains"
    because = told(claim) if claim else "the recorded run ended with these words"
    wanted = {"id": "final_reply", "kind": "final_reply", verb: sentence}
    yield Suggestion(wanted, claim is not None, because)


def detectors_silent(run: RunRecord, findings: Sequence[Finding]) -> Iterator[Suggestion]:
    """The detectors that found a fault which the run did not make up for.

    Those that judge the model's own words are left out: in a replay the words are the record's.
    """
    names = dict.fromkeys(
        finding.detector
        for finding in findings
        if finding.severity != Severity.LEAD
        and finding.recovered_at is None
        and finding.detector not in OF_THE_MODEL
    )
    if names:
        wanted = {"id": "detectors_silent", "kind": "detectors_silent", "detectors": list(names)}
        titles = ", ".join(map(detector_title, names))
        yield Suggestion(wanted, True, f"found in the recorded run: {titles}")


def ident(kind: str, tool: str) -> str:
    """An id that the case format allows, from a tool's name of any kind."""
    return f"{kind}:{re.sub('[^A-Za-z0-9_.:-]', '_', tool)}"[:200]


OFFERS: tuple[Callable[[RunRecord, Sequence[Finding]], Iterator[Suggestion]], ...] = (
    ending,
    max_rounds,
    max_cost,
    max_seconds,
    no_identical_call,
    no_empty_result,
    no_retry_after_failure,
    must_call,
    must_not_call,
    ticket,
    final_reply,
    detectors_silent,
)
