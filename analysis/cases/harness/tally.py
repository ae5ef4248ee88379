"""One case's runs, judged and counted as they come in."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.cases.harness.asking import Options
from analysis.cases.harness.counting import wilson
from analysis.cases.harness.judging import JUDGES, _as, told
from analysis.cases.harness.processes import Job
from analysis.cases.harness.reading import (
    LARGEST_TRANSCRIPT,
    RESULT_SCHEMA,
    ROUNDS,
    SECONDS,
    canonical,
)
from analysis.cases.harness.trace import Trace
from analysis.cases.harness.transcript import transcript_of


@dataclass
class Settings:
    """How cases are replayed. `detectors` gives, for (case, trace), {detector that fired: why}.
    `transcripts`: the result carries the first run that passed and the first that failed.
    """

    runs: int = 1
    workers: int = 0  # 0: as many as there are processors
    rounds: int | None = None
    seconds: float | None = None
    model: Callable[..., Any] | None = None
    model_name: str = ""
    from_round: int | None = None
    seed: int | None = None
    temperature: float | None = None
    agent_name: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    detectors: Callable[[Mapping[str, Any], Trace], Mapping[str, str]] | None = None
    pass_rate: float | None = None
    transcripts: bool = True

    def options(self, case: Mapping[str, Any], number: int) -> Options:
        limits = case.get("limits", {})
        return Options(
            rounds=int(self.rounds or limits.get("rounds") or ROUNDS),
            seconds=float(self.seconds or limits.get("seconds") or SECONDS),
            model=self.model,
            from_round=self.from_round,
            seed=None if self.seed is None else self.seed + number - 1,
            temperature=self.temperature,
        )


def judge(
    case: Mapping[str, Any], trace: Trace, fired: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """(state, why) for each of the case's expectations, in order."""
    judged = []
    for wanted in case.get("expect", []):
        if wanted["kind"] == "detectors_silent" and fired is not None:
            heard = [f"{name}: {fired[name]}" for name in wanted["detectors"] if name in fired]
            judged.append(_as(not heard, heard[0] if heard else "all of them are silent"))
        else:
            judged.append(JUDGES[wanted["kind"]](wanted, trace, case))
    return judged


def trouble(trace: Trace) -> str:
    """Why a run fails whatever is expected: the loop raised, crashed, or hit a hard stop."""
    if trace.how in ("raised", "crashed", "killed"):
        return trace.reason or trace.why
    if trace.how == "stopped" and trace.why.startswith("stopped"):
        return trace.reason
    return ""


@dataclass
class Tally:
    """One case's runs, counted as they come in."""

    case: Mapping[str, Any]
    settings: Settings
    started: float = field(default_factory=time.time)
    each: list[dict[str, Any]] = field(default_factory=list)
    counts: list[dict[str, int]] = field(default_factory=list)
    whys: list[dict[str, Any]] = field(default_factory=list)
    firsts: dict[str, tuple[int, Trace]] = field(default_factory=dict)

    def add(self, job: Job, trace: Trace) -> None:
        expectations = self.case.get("expect", [])
        fired = None
        if self.settings.detectors and any(e["kind"] == "detectors_silent" for e in expectations):
            fired = self.settings.detectors(self.case, trace)
        failed = []
        for at, (state, why) in enumerate(judge(self.case, trace, fired)):
            if at == len(self.counts):
                self.counts.append({"passed": 0, "failed": 0, "not_judged": 0})
                self.whys.append({})
            self.counts[at][state] += 1
            first = self.whys[at].get(state)
            if first is None or job.number < first["run"]:
                self.whys[at][state] = {"run": job.number, "why": why}
            if state == "failed":
                failed.append(name_of(expectations[at]))
        outcome = "failed" if failed or trouble(trace) else "passed"
        if outcome not in self.firsts or job.number < self.firsts[outcome][0]:
            self.firsts[outcome] = (job.number, trace)
        self.each.append({
            "run": job.number,
            "seed": job.options.seed,
            "state": outcome,
            "ending": trace.ending,
            "reason": trace.reason,
            "trouble": trouble(trace),
            "rounds": len(trace.rounds),
            "seconds": round(trace.seconds, 4),
            "cost": math.fsum(entry["cost"] or 0 for entry in trace.rounds),
            "models": sorted({entry["model"] for entry in trace.rounds if entry["model"]}),
            "failed": failed,
            "divergence": trace.divergence,
            "printed": trace.printed,
        })  # fmt: skip

    def result(self) -> dict[str, Any]:
        """The result document, `agentdesk.case-result/1`."""
        self.each.sort(key=lambda entry: entry["run"])
        settings, runs = self.settings, len(self.each)
        passed = sum(entry["state"] == "passed" for entry in self.each)
        required = settings.pass_rate or self.case.get("limits", {}).get("pass_rate") or 1.0
        expectations = [
            expectation_result(wanted, counts, whys)
            for wanted, counts, whys in zip(  # noqa: B905
                self.case.get("expect", []), self.counts, self.whys
            )
        ]
        diverged = next((entry for entry in self.each if entry["divergence"]), None)
        return {
            "schema": RESULT_SCHEMA,
            "case": self.case.get("case_id", ""),
            "title": self.case.get("title", ""),
            "case_digest": digest(self.case),
            "agent": settings.agent_name,
            "versions": dict(settings.versions),
            "model": settings.model_name,
            "from_round": settings.from_round,
            "temperature": settings.temperature,
            "seed": settings.seed,
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "state": "passed" if runs and passed / runs >= required else "failed",
            "pass_rate_required": required,
            "runs": runs,
            "passed": passed,
            "interval": [round(bound, 4) for bound in wilson(passed, runs)],
            "expectations": expectations,
            "divergence": diverged and {"run": diverged["run"], **diverged["divergence"]},
            "each": self.each,
            "replays": self._replays() if settings.transcripts else [],
        }

    def _replays(self) -> list[dict[str, Any]]:
        """The transcripts of the first runs; of one that is too long, how long it is."""
        replays = []
        for number, trace in sorted(self.firsts.values(), key=lambda first: first[0]):
            transcript = transcript_of(self.case, trace)
            size = len(json.dumps(transcript))
            left_out = size > LARGEST_TRANSCRIPT
            told = {"left_out": size} if left_out else {"transcript": transcript}
            replays.append({"run": number, **told})
        return replays


def expectation_result(
    wanted: Mapping[str, Any], counts: Mapping[str, int], whys: Mapping[str, Any]
) -> dict[str, Any]:
    runs = counts["passed"] + counts["failed"]
    state = "failed" if counts["failed"] else "passed" if runs else "not_judged"
    return {
        "id": name_of(wanted),
        "kind": wanted["kind"],
        "text": told(wanted),
        "state": state,
        "runs": runs,
        "passed": counts["passed"],
        "not_judged": counts["not_judged"],
        "interval": [round(bound, 4) for bound in wilson(counts["passed"], runs)],
        "first": whys.get(state),
    }


def name_of(wanted: Mapping[str, Any]) -> str:
    return str(wanted.get("id") or "_".join(filter(None, (wanted["kind"], wanted.get("tool")))))


def digest(case: Mapping[str, Any]) -> str:
    """SHA-256 of the case's canonical JSON: two results are of the same case when it is equal."""
    return hashlib.sha256(canonical(case).encode("utf-8", "surrogatepass")).hexdigest()
