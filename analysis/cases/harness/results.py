"""Replaying cases: runs of all of them side by side, results in stable order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from analysis.cases.harness.asking import Replay
from analysis.cases.harness.processes import Job, run_all
from analysis.cases.harness.reading import RESULT_SCHEMA, CaseError
from analysis.cases.harness.recorded import check_case
from analysis.cases.harness.tally import Settings, Tally


def replay_all(
    cases: Iterable[tuple[str, Any]], agent: Callable[[Replay], Any], settings: Settings
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, result) of each case, in the order of `cases`; runs of all cases go side by side.

    A case that is a CaseError gets a result with the state "error" and the sentence. Cases are read
    as they are needed, so that a large suite is never in memory as a whole.
    """
    tallies: dict[int, Tally] = {}
    names: dict[int, str] = {}
    done: dict[int, dict[str, Any]] = {}
    place: dict[int, int] = {}

    def jobs() -> Iterator[Job]:
        for at, (name, case) in enumerate(cases):
            names[at] = name
            if isinstance(case, CaseError):
                done[at] = {
                    "schema": RESULT_SCHEMA,
                    "case": name,
                    "state": "error",
                    "error": str(case),
                }
                continue
            tallies[at] = Tally(case, settings)
            place[id(case)] = at
            for number in range(1, settings.runs + 1):
                yield Job(case, number, settings.options(case, number))

    next_out = 0
    for job, trace in run_all(jobs(), agent, settings.workers or os.cpu_count() or 1):
        at = place[id(job.case)]
        tallies[at].add(job, trace)
        if len(tallies[at].each) == settings.runs:
            done[at] = tallies.pop(at).result()
            del place[id(job.case)]
        while next_out in done:
            yield names.pop(next_out), done.pop(next_out)
            next_out += 1
    while next_out in done:
        yield names.pop(next_out), done.pop(next_out)
        next_out += 1


def replay(
    case: Mapping[str, Any], agent: Callable[[Replay], Any], **settings: Any
) -> dict[str, Any]:
    """The result of one case, for a test: `replay(case, agent, runs=20)["state"]`."""
    check_case(case)
    return next(result for _, result in replay_all([("", case)], agent, Settings(**settings)))
