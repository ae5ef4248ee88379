"""Replay a recorded agent run against a loop: the scripted model, the recorded tools, the judging.

Standard library only, Python 3.9 or newer. `./desk replay` uses it, and every exported test case
carries it, joined to one file `harness.py`, so that both say the same.

The loop under test is plugged in as a function of one argument:

    def agent(replay):
        messages = replay.start()                  # system prompt and ticket, as recorded
        while True:
            reply = replay.ask(messages)           # the next scripted reply
            messages.append(reply.message)
            if not reply.calls:
                return reply.text
            for call in reply.calls:
                result = replay.call(call.name, call.args)     # the recorded tool, or a mock of it
                messages.append(call.answer(result))

A loop that is built on a client gets `replay.openai()` (`.chat.completions.create`) or
`replay.anthropic()` (`.messages.create`), and `replay.tools` maps tool names to functions. Say how
the run ended with `replay.end("handed_off", "why")` where the last reply does not say it. The
function may be `async def`. From the command line: `python harness.py case.json --agent
module:function --runs 50 --junit report.xml`; `--help` lists the rest.

Each run is a process of its own. It is killed, with all that it started, when its time is up.
"""

from analysis.cases.harness.asking import Options, Replay
from analysis.cases.harness.calls import calls_made
from analysis.cases.harness.checking import KINDS, check_case
from analysis.cases.harness.command import load_function, main
from analysis.cases.harness.counting import compare, fisher, wilson
from analysis.cases.harness.example import example_agent
from analysis.cases.harness.files import read_cases
from analysis.cases.harness.judging import JUDGES, told
from analysis.cases.harness.junit import junit
from analysis.cases.harness.performing import run_here
from analysis.cases.harness.processes import Job, run_all
from analysis.cases.harness.reading import (
    ENDINGS,
    LARGEST_CASE,
    SCHEMA,
    CaseError,
    HardStop,
    ModelFailed,
    ToolFailed,
    call_key,
    canonical,
)
from analysis.cases.harness.recorded import load_case, parse_case
from analysis.cases.harness.replies import Call, Reply, Result
from analysis.cases.harness.report import report
from analysis.cases.harness.results import replay, replay_all
from analysis.cases.harness.tally import Settings, judge
from analysis.cases.harness.tools import MOCKS, RAISES
from analysis.cases.harness.trace import Trace
from analysis.cases.harness.transcript import transcript_of

__all__ = [
    "ENDINGS",
    "JUDGES",
    "KINDS",
    "LARGEST_CASE",
    "MOCKS",
    "RAISES",
    "SCHEMA",
    "Call",
    "CaseError",
    "HardStop",
    "Job",
    "ModelFailed",
    "Options",
    "Replay",
    "Reply",
    "Result",
    "Settings",
    "ToolFailed",
    "Trace",
    "call_key",
    "calls_made",
    "canonical",
    "check_case",
    "compare",
    "example_agent",
    "fisher",
    "judge",
    "junit",
    "load_case",
    "load_function",
    "main",
    "parse_case",
    "read_cases",
    "replay",
    "replay_all",
    "report",
    "run_all",
    "run_here",
    "told",
    "transcript_of",
    "wilson",
]
