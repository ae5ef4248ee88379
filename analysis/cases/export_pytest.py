"""Test cases as a folder that pytest runs, with nothing else installed.

The cases, the harness as one file, a `test_case.py` and a README. The test file is the same for
all cases: no text of a transcript is ever written into code.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.cases.case import write_case
from analysis.cases.joining import joined_harness

TEST_FILE = Path(__file__).with_name("exported_test.txt")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can hold: the same bytes every time

README = """\
# Replay of {what}

1. `pip install pytest`, then `pytest` in this folder: it replays each `*.case.json` against a loop.
2. In `test_case.py`, plug in **the loop to test**: `agent(replay)` runs it. Your loop asks the model by
   `replay.ask(messages)`, `replay.openai()` or `replay.anthropic()`, and calls tools by `replay.call(name, args)`.
3. And **how it asks the model**: `model(messages)`, used from round N on with `AGENTDESK_FROM_ROUND=N pytest`.
   Without it the model is scripted: it gives the recorded replies, or those of the case's branches.
4. `AGENTDESK_RUNS=50 pytest` makes 50 runs of each; `python harness.py . --help` shows rates, JUnit, step mode.
5. `harness.py` needs Python 3.9 and no package. It says at its top what a loop is given, and how to end.
6. The cases are JSON for people to read and edit: expectations, branches, tool mocks, then the run.
"""  # noqa: E501


def export_files(cases: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """File name → text, in the order of the zip. Raises ValueError where two cases have one id."""
    files: dict[str, str] = {}
    for case in cases:
        name = f"{file_name(case['case_id'])}.case.json"
        if name in files:
            raise ValueError(f"two cases have the id {case['case_id']!r}")
        files[name] = write_case(case)
    files["harness.py"] = joined_harness()
    files["test_case.py"] = TEST_FILE.read_text(encoding="utf-8")
    what = f"test case {cases[0]['case_id']}" if len(cases) == 1 else f"{len(cases)} test cases"
    files["README.md"] = README.format(what=what)
    return files


def export_zip(cases: Sequence[Mapping[str, Any]], *, folder: str) -> bytes:
    """The zip of `export_files` below `folder`; the same cases give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in export_files(cases).items():
            entry = zipfile.ZipInfo(f"{file_name(folder)}/{name}", EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # Unix, whatever this runs on
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text.encode("utf-8"))
    return packed.getvalue()


def file_name(text: str) -> str:
    """A name that every file system takes, and that leads out of no folder."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".") or "_"
