"""Other people's runs as test cases: made, written, read, and replayed to their end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from analysis.cases.case import missing_for_replay, read_case, write_case
from analysis.cases.harness import Options, example_agent, run_here
from analysis.cases.making import suggested_case
from tests.analysis.cases.vpn import masked
from transcripts.endings import with_ending
from transcripts.importers import UnreadableError, read_runs
from transcripts.record import RunRecord

LARGEST = 3_000_000  # bytes of one file: what takes a second is enough here
A_FILE = 3  # runs of one file


def runs_below(folder: Path) -> list[RunRecord]:
    runs = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.stat().st_size > LARGEST:
            continue
        try:
            found = list(read_runs(file.read_bytes(), default_run_id=file.name))
        except UnreadableError:
            continue
        runs += [with_ending(run, live=False) for run in found if isinstance(run, RunRecord)][
            :A_FILE
        ]
    return [run for run in runs if not missing_for_replay(run)]


def test_complete_runs_are_replayed_to_where_their_record_ends(shared: Path) -> None:
    ways: Counter[str] = Counter()
    for run in runs_below(shared / "corpus"):
        case = suggested_case(masked(run))
        assert read_case(write_case(case)) == case

        trace = run_here(case, example_agent, Options(rounds=2000))

        assert trace.how in ("returned", "stopped"), (run.run_id, trace.reason)
        # The example makes no third identical call, and some of these runs do
        guarded = trace.reason.startswith("repeated call")
        ways["guarded" if guarded else "whole" if trace.divergence is None else "another way"] += 1

    assert ways["whole"] >= 60
    assert ways["whole"] >= 9 * ways["another way"]
