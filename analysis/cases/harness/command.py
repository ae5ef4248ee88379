"""The command line."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.cases.harness.counting import compare
from analysis.cases.harness.files import read_cases
from analysis.cases.harness.junit import junit
from analysis.cases.harness.posting import post
from analysis.cases.harness.reading import ROUNDS, SECONDS, CaseError
from analysis.cases.harness.report import report, say
from analysis.cases.harness.results import replay_all
from analysis.cases.harness.stepping import step
from analysis.cases.harness.tally import Settings
from analysis.cases.harness.trace import Trace


def load_function(name: str, what: str) -> Callable[..., Any]:
    """The function that `module:function` names; the module is looked for here and as installed."""
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise CaseError(f"{what}: {name!r} is not module:function")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        with contextlib.redirect_stdout(sys.stderr):
            function: Any = importlib.import_module(module_name)
        for part in function_name.split("."):
            function = getattr(function, part)
    except AttributeError:
        raise CaseError(f"{what}: {module_name} has no {function_name}") from None
    except Exception as error:
        raise CaseError(
            f"{what}: {module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not callable(function):
        raise CaseError(f"{what}: {name} is no function")
    return function  # type: ignore[no-any-return]


def parser(program: str) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog=program, description="Replay test cases against a loop.")
    add = options.add_argument
    add("case", help="a case file, a JSONL file, a zip or a folder of cases")
    add("--agent", required=True, metavar="MODULE:FUNCTION", help="the loop under test")
    add("--runs", type=int, default=1, help="runs of each case (1)")
    add("--jobs", type=int, default=0, help="runs side by side (one a processor)")
    add("--from-round", type=int, metavar="N", help="ask --model from round N on")
    add("--model", metavar="MODULE:FUNCTION", help="how the loop asks a real model")
    add("--seed", type=int, help="seed of the first run; the others count on from it")
    add("--temperature", type=float, help="given to --model, and recorded")
    add("--rounds", type=int, help=f"hard stop of a run in rounds (the case's, or {ROUNDS})")
    add("--seconds", type=float, help=f"hard stop of a run in seconds (the case's, or {SECONDS:g})")
    add("--require", type=float, metavar="RATE", help="pass rate that is enough (the case's, or 1)")
    add("--against", metavar="FILE", help="compare with the --json output of an accepted version")
    add("--step", action="store_true", help="one round at a time, in this terminal")
    add("--junit", metavar="FILE", help="write JUnit XML")
    add("--json", action="store_true", help="print one JSON object a case")
    add("--post", metavar="URL", help="send results to Agentdesk; the key is in AGENTDESK_KEY")
    add("--no-transcripts", action="store_true", help="results without what the replays said")
    add(
        "--code-version",
        default=os.environ.get("GITHUB_SHA") or os.environ.get("CI_COMMIT_SHA", ""),
    )
    add("--prompt-version", default="")
    add("--model-version", default="")
    return options


def settings_of(asked: argparse.Namespace) -> Settings:
    if (asked.model is None) != (asked.from_round is None):
        raise CaseError("--model and --from-round go together")
    for name in ("runs", "rounds", "seconds", "from_round"):
        if getattr(asked, name) is not None and getattr(asked, name) <= 0:
            raise CaseError(f"--{name.replace('_', '-')} must be more than 0")
    versions = {"code": asked.code_version, "prompt": asked.prompt_version,
                "model": asked.model_version}  # fmt: skip
    return Settings(
        runs=asked.runs,
        workers=asked.jobs,
        rounds=asked.rounds,
        seconds=asked.seconds,
        model=load_function(asked.model, "--model") if asked.model else None,
        model_name=asked.model or "",
        from_round=asked.from_round,
        seed=asked.seed,
        temperature=asked.temperature,
        agent_name=asked.agent,
        versions=versions,
        pass_rate=asked.require,
        transcripts=not asked.no_transcripts,
    )


def main(
    arguments: Sequence[str],
    *,
    program: str = "harness.py",
    detectors: Callable[[Mapping[str, Any], Trace], Mapping[str, str]] | None = None,
) -> int:
    """0: every case passed; 1: one failed; 2: one could not be replayed, or not be sent."""
    asked = parser(program).parse_args(arguments)
    try:
        agent = load_function(asked.agent, "--agent")
        settings = settings_of(asked)
        settings.detectors = detectors
        before = read_accepted(asked.against) if asked.against else {}
        if asked.step:
            return step(asked.case, agent, settings)
        with ended_by_sigterm():
            return replay_and_tell(asked, agent, settings, before)
    except (CaseError, OSError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2


@contextlib.contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Leave by an exception when asked to end, so that the runs' processes are ended too."""

    def leave(*_: object) -> None:
        sys.exit(143)

    before = None
    with contextlib.suppress(ValueError):  # not in the main thread
        before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def replay_and_tell(
    asked: argparse.Namespace, agent: Any, settings: Settings, before: Mapping[str, Any]
) -> int:
    results = []
    code = 0
    one = Path(asked.case).is_file() and Path(asked.case).suffix == ".json"
    for name, result in replay_all(read_cases(asked.case), agent, settings):
        accepted = before.get(result["case"])
        if accepted and result["state"] != "error":
            result["against"] = against(accepted, result)
        say(json.dumps(result) if asked.json else report(name, result, one))
        code = max(code, {"passed": 0, "failed": 1, "error": 2}[result["state"]])
        if asked.junit:
            results.append(result)
        if asked.post and result["state"] != "error":
            try:
                post(result, asked.post, os.environ.get("AGENTDESK_KEY", ""))
            except CaseError as error:
                print(error, file=sys.stderr)
                code = 2
    if asked.junit:
        Path(asked.junit).write_text(junit(results), encoding="utf-8")
    return code


def read_accepted(path: str) -> dict[str, Any]:
    """Results by case, from what `--json` printed."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        results = [json.loads(line) for line in lines if line.strip()]
        return {result["case"]: result for result in results if result["state"] != "error"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaseError(f"--against: {path}: {type(error).__name__}: {error}") from None


def against(accepted: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """The comparison of the whole and of each expectation that both have."""
    before = {entry["id"]: entry for entry in accepted.get("expectations", [])}
    return {
        "versions": accepted.get("versions", {}),
        "same_case": accepted.get("case_digest") == result["case_digest"],
        **compare(accepted, result),
        "expectations": {
            entry["id"]: compare(before[entry["id"]], entry)
            for entry in result["expectations"]
            if entry["id"] in before
        },
    }
