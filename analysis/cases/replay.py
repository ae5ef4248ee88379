"""Replay with Agentdesk's own detectors, which the stand-alone harness does not have.

A replayed run is made a `RunRecord` and read by the same suite as a recorded one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.cases import harness
from analysis.cases.harness import SCHEMA, Trace, main, transcript_of
from analysis.suite import analyse
from transcripts.importers.native_run import read_run
from transcripts.record import RunRecord


def fired(case: Mapping[str, Any], trace: Trace) -> dict[str, str]:
    """The detectors that fire on a replayed run, with the first finding of each in words.

    A detector that raised is told like one that fired: silence must not come from a failure.
    """
    analysis = analyse(record_of(case, trace))
    found = {name: f"could not judge this run ({kind})" for name, kind in analysis.errors.items()}
    for finding in analysis.findings:
        found.setdefault(finding.detector, f"round {finding.round}: {finding.why}")
    return found


def record_of(case: Mapping[str, Any], trace: Trace) -> RunRecord:
    """The replayed run as a record: what the model was shown, replied, and got back."""
    return read_run(transcript_of(case, trace), "replay")


def replay_command(arguments: Sequence[str]) -> int:
    """`./desk replay`, and `python -m analysis.cases`. Gives the exit code."""
    stand_in_for_exported_harness(Path.cwd() / "harness.py")
    return main(arguments, program="replay", detectors=fired)


def stand_in_for_exported_harness(file: Path) -> None:
    """Where a loop imports the `harness.py` of an export, let it get these very classes.

    Else it would look for the exceptions of one copy while the tools raise those of the other.
    """
    if file.is_file() and SCHEMA in file.read_text(encoding="utf-8", errors="replace"):
        sys.modules["harness"] = harness
