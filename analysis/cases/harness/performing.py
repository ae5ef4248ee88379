"""Let a loop run, and tell how that ended."""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from analysis.cases.harness.asking import Options, Replay
from analysis.cases.harness.clients import OpenAIClient
from analysis.cases.harness.models import settled
from analysis.cases.harness.reading import ENDINGS, HardStop, ToolFailed, brief, cut
from analysis.cases.harness.tools import RecordedTools
from analysis.cases.harness.trace import Trace


def perform(agent: Callable[[Replay], Any], replay: Replay, emit: Callable[..., None]) -> None:
    """Let the loop run, and tell how that ended. Catches everything the loop may raise."""
    started = time.monotonic()
    end: dict[str, Any] = {"e": "end", "how": "returned", "why": "", "final": "", "ending": "open"}
    try:
        value = agent(replay)
        value = settled(value)
        if isinstance(value, str):
            end["final"] = cut(value)
        elif isinstance(value, Mapping) and value.get("ending") in ENDINGS:
            replay.end(value["ending"], str(value.get("reason") or ""))
    except HardStop as stop:
        end.update(how="stopped", why=str(stop), ending=stop.ending)
    except BaseException as error:
        end.update(how="raised", why=said_where(error))
    if replay.stopped is not None:  # also where the loop caught it
        end.update(how="stopped", why=str(replay.stopped), ending=replay.stopped.ending)
    if os.getpid() != replay._owner:
        os._exit(0)  # a forked copy of the loop: the original tells how it ended
    emit({**end, "seconds": time.monotonic() - started})


OURS = {
    function.__code__.co_filename
    for function in (Replay.ask, RecordedTools.answer, OpenAIClient.create)
}


def said_where(error: BaseException) -> str:
    """The error, with the innermost line outside of this harness."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename not in OURS and f.name != "perform"] or list(frames)
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    name = "ToolFailed" if isinstance(error, ToolFailed) else type(error).__name__
    return f"the agent raised {name}: {brief(str(error), 400)}{place}"


def run_here(
    case: Mapping[str, Any],
    agent: Callable[[Replay], Any],
    options: Options,
    watch: Callable[[dict[str, Any]], None] | None = None,
) -> Trace:
    """One run in this process: for a debugger, the step mode, and systems without fork.

    Nothing can be killed here: limits hold only where the loop asks the model or calls a tool.
    """
    trace = Trace()

    def emit(event: dict[str, Any]) -> None:
        trace.take(json.loads(json.dumps(event, default=str)))
        if watch is not None:
            watch(event)

    random.seed(options.seed)
    perform(agent, Replay(case, emit, options), emit)
    trace.settle(case)
    return trace
