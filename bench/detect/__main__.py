"""`python -m bench.detect`: print the evaluation of the detector suite, and write it to a page."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.detect import report, speed
from bench.detect.clean import clean_sketches
from bench.detect.corpus import Corpus, read_corpus
from bench.detect.inject import cases
from bench.detect.misses import false_alarms, missed
from bench.detect.score import Control, Outcome, control, judge
from bench.detect.world import part_of

REPORTING_SEED = 1
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Evaluation:
    outcomes: list[Outcome]
    controls: list[Control]
    corpus: Corpus


def main(arguments: list[str]) -> int:
    """0 when the targets are met, 1 when not."""
    options = _options(arguments)
    evaluation = Evaluation(
        [judge(case) for case in cases(options.seed, options.per_kind)],
        [control(sketch) for sketch in clean_sketches(options.seed, options.runs)],
        read_corpus(options.corpus) if options.corpus else Corpus([], []),
    )
    sections = _sections(evaluation, options)
    if not options.no_speed:
        timings = speed.growth()
        sections["Speed and memory"] = report.speed(timings, speed.memory())
        sections["Runs that go wrong all along"] = report.loops(speed.loops())
        sections["Hostile text"] = report.hostile(speed.hostile())
    for title, text in sections.items():
        print(f"\n## {title}\n\n{text}", flush=True)
    if options.misses:
        found = [*missed(evaluation.outcomes), *false_alarms(evaluation.controls)]
        options.misses.write_text("\n\n".join(found), encoding="utf-8")
    if options.write:
        options.write.write_text(_page(sections, options), encoding="utf-8")
    return 0 if _met(evaluation) else 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.detect", description=__doc__)
    shared = Path(os.environ.get("AGENTDESK_SHARED", ROOT.parent / "shared"))
    parser.add_argument("--seed", type=int, default=REPORTING_SEED, help="odd: reporting words")
    parser.add_argument("--runs", type=int, default=1000, help="clean controls")
    parser.add_argument("--per-kind", type=int, default=40, help="broken runs a kind of fault")
    parser.add_argument("--corpus", type=Path, default=shared / "corpus", help="real runs")
    parser.add_argument("--write", type=Path, help="a Markdown page with the tables")
    parser.add_argument("--misses", type=Path, help="a page with what was missed, and where")
    parser.add_argument("--no-speed", action="store_true")
    options = parser.parse_args(arguments)
    if not options.corpus.is_dir():
        print(f"bench.detect: no real runs at {options.corpus}, so none are looked at")
        options.corpus = None
    return options


def _sections(evaluation: Evaluation, options: argparse.Namespace) -> dict[str, str]:
    outcomes, controls = evaluation.outcomes, evaluation.controls
    sections = {
        "Figures": report.summary(outcomes, controls),
        "By detector": report.detectors(outcomes, controls),
        "By fault": report.faults(outcomes),
        "Clean runs by look-alike": report.looks(controls),
    }
    if evaluation.corpus.runs:
        alarms = [alarm for run in evaluation.corpus.runs for alarm in run.alarms]
        sections["Real runs"] = report.corpus(evaluation.corpus)
        sections["Every alarm on a real run"] = report.corpus_list(alarms)
    return sections


def _met(evaluation: Evaluation) -> bool:
    outcomes, controls = evaluation.outcomes, evaluation.controls
    alarms = sum(one.alarm for one in controls) / max(1, len(controls))
    return (
        report.share_of(outcomes, lambda o: o.placed).rate >= report.PLACE_TARGET
        and report.share_of(outcomes, lambda o: o.named).rate >= report.KIND_TARGET
        and alarms <= report.ALARM_TARGET
    )


def _page(sections: dict[str, str], options: argparse.Namespace) -> str:
    command = f"python -m bench.detect --seed {options.seed} --runs {options.runs}"
    method = (Path(__file__).parent / "method.md").read_text(encoding="utf-8").strip()
    facts = (
        f"Printed by `{command} --per-kind {options.per_kind}`; "
        f"seed {options.seed} uses the words of `pools/{part_of(options.seed)}.toml`."
    )
    body = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
    return f"# What the detectors find\n\n{facts}\n\n{method}\n\n{body}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
