"""Replaying cases: runs of all of them side by side, results in stable order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from analysis.cases.harness.asking import Replay
from analysis.cases.harness.checking import check_case
from analysis.cases.harness.processes import Job, run_all
from analysis.cases.harness.reading import RESULT_SCHEMA, CaseError
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

    def jobs() -> Iterator[Job]:
        for place, (name, case) in enumerate(cases):
            names[place] = name
            if isinstance(case, CaseError):
                done[place] = refused(name, case)
                continue
            tallies[place] = Tally(case, settings)
            for number in range(1, settings.runs + 1):
                yield Job(case, number, settings.options(case, number), place)

    def in_order() -> Iterator[tuple[str, dict[str, Any]]]:
        while names and min(names) in done:
            place = min(names)
            yield names.pop(place), done.pop(place)

    for job, trace in run_all(jobs(), agent, settings.workers or os.cpu_count() or 1):
        tally = tallies[job.place]
        tally.add(job, trace)
        if len(tally.each) == settings.runs:
            done[job.place] = tally.result()
            del tallies[job.place]
        yield from in_order()
    yield from in_order()


def refused(name: str, error: CaseError) -> dict[str, Any]:
    return {"schema": RESULT_SCHEMA, "case": name, "state": "error", "error": str(error)}


def replay(
    case: Mapping[str, Any], agent: Callable[[Replay], Any], **settings: Any
) -> dict[str, Any]:
    """The result of one case, for a test: `replay(case, agent, runs=20)["state"]`."""
    check_case(case)
    return next(result for _, result in replay_all([("", case)], agent, Settings(**settings)))
