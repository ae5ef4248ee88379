"""The examples of a project, removed in one go; and brought back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from analysis.services.keeping import HELD
from transcripts.access import May, Reader
from transcripts.services.erasing import runs_erase
from transcripts.services.example_runs import ExamplesError, examples_of, examples_send
from transcripts.undo import UndoError, undoes

REMOVED = "examples_removed"
# Who takes the removal back at once waits for the worker that is at it.
WAIT_SECONDS = 5.0
STEP_SECONDS = 0.2


def examples_remove(*, reader: Reader, request: HttpRequest) -> int:
    """Erase the examples, with what hangs on them alone; returns how many there were. Raises
    `HeldError`.
    """
    runs = examples_of(project=reader.project).select_related("project").order_by("pk")
    return runs_erase(runs=list(runs), held=HELD, user=reader.user, request=request)


@undoes(REMOVED, may=May.ADMINISTER)
def undo_remove(reader: Reader, before: Mapping[str, Any]) -> str:
    """`before`: {runs: how many}."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            examples_send(project=reader.project, user=reader.user)
        except ExamplesError as error:
            if time.monotonic() > end:
                raise UndoError(str(error)) from None
            time.sleep(STEP_SECONDS)
        else:
            return "The examples are on their way back."
