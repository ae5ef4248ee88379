"""The tables of the evaluation, in Markdown, for the shell and for the page in `docs/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from bench.detect.corpus import Alarm, Corpus, CorpusRun, judged
from bench.detect.score import Control, Outcome, Share, by_detector
from bench.detect.speed import Timing

PLACE_TARGET, KIND_TARGET, ALARM_TARGET = 0.95, 0.95, 0.02
UNQUOTED = re.compile("“[^”]*”")
"""What a finding quotes of a real run stays with the run."""
MILLISECONDS = {1000: 150.0, 100_000: 15_000.0}
"""What a pass over so many rounds of 2 KB may take."""


def percent(share: Share) -> str:
    return f"{100 * share.rate:.1f}%" if share.total else "-"


def with_interval(share: Share) -> str:
    low, high = share.interval
    bounds = f"95%: {100 * low:.1f} to {100 * high:.1f}"
    return f"{percent(share)} ({share.hits} of {share.total}; {bounds})"


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(' --- ' for _ in head)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def share_of(outcomes: Iterable[Outcome], held: Callable[[Outcome], bool | None]) -> Share:
    """How many hold; those that answer None do not count."""
    answers = [answer for answer in map(held, outcomes) if answer is not None]
    return Share(sum(answers), len(answers))


def summary(outcomes: list[Outcome], controls: list[Control]) -> str:
    placed = share_of(outcomes, lambda o: o.placed)
    named = share_of(outcomes, lambda o: o.named)
    alarms = Share(sum(c.alarm for c in controls), len(controls))
    flagged = Share(sum(c.flagged for c in controls), len(controls))
    wrong = Share(sum(bool(o.wrong) for o in outcomes), len(outcomes))
    return table(
        ["figure", "measured", "target", "met"],
        [
            ["exact place", with_interval(placed), "95%", _met(placed.rate >= PLACE_TARGET)],
            ["kind", with_interval(named), "95%", _met(named.rate >= KIND_TARGET)],
            ["first odd round", with_interval(share_of(outcomes, lambda o: o.opened)), "", ""],
            ["recovered or not", with_interval(share_of(outcomes, lambda o: o.recovery)), "", ""],
            [
                "clean runs with any alarm",
                with_interval(alarms),
                "2%",
                _met(alarms.rate <= ALARM_TARGET),
            ],
            ["clean runs flagged", with_interval(flagged), "", ""],
            ["broken runs with a finding that is not of the fault", with_interval(wrong), "", ""],
        ],
    )


def _met(met: bool) -> str:
    return "yes" if met else "**no**"


def detectors(outcomes: list[Outcome], controls: list[Control]) -> str:
    rows = by_detector(outcomes, controls)
    return table(
        ["detector", "faults", "recall", "exact place", "right findings", "wrong", "precision"],
        (
            [
                f"`{name}`",
                str(row.faults),
                percent(row.recall),
                percent(Share(row.placed, row.faults)),
                str(row.right),
                str(row.wrong),
                percent(row.precision),
            ]
            for name, row in rows.items()
        ),
    )


def faults(outcomes: list[Outcome]) -> str:
    kinds: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault(outcome.case.kind, []).append(outcome)
    return table(
        ["fault", "runs", "detector", "exact place", "kind", "recovery right", "variants missed"],
        (
            [
                kind,
                str(len(own)),
                f"`{own[0].case.expected.detector}`",
                percent(share_of(own, lambda o: o.placed)),
                percent(share_of(own, lambda o: o.named)),
                percent(share_of(own, lambda o: o.recovery)),
                _missed(own),
            ]
            for kind, own in sorted(kinds.items())
        ),
    )


def _missed(outcomes: list[Outcome]) -> str:
    missed = Counter(o.case.expected.variant for o in outcomes if not (o.placed and o.named))
    return ", ".join(f"`{name!r}` {n}" for name, n in missed.most_common(4)).replace("|", "\\|")


def looks(controls: list[Control]) -> str:
    runs: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    said: dict[str, Counter[str]] = {}
    for one in controls:
        for name in one.sketch.looks or ["none"]:
            runs[name] += 1
            alarms[name] += one.alarm
            said.setdefault(name, Counter()).update(f.detector for f in one.wrong)
    return table(
        ["look-alike in the run", "clean runs", "with an alarm", "detectors that spoke"],
        (
            [
                name,
                str(runs[name]),
                str(alarms[name]),
                ", ".join(f"`{d}` {n}" for d, n in said[name].items()),
            ]
            for name in sorted(runs)
        ),
    )


def corpus(found: Corpus) -> str:
    """What is said of real runs, counted by folder."""
    folders: dict[str, list[CorpusRun]] = {}
    for run in found.runs:
        folders.setdefault(run.folder, []).append(run)
    counts = table(
        ["folder", "runs", "rounds", "flagged", "alarms", "recovered or lead"],
        (
            [
                name,
                str(len(own)),
                str(sum(run.rounds for run in own)),
                str(sum(run.flagged for run in own)),
                str(sum(len(run.standing) for run in own)),
                str(sum(len(run.alarms) - len(run.standing) for run in own)),
            ]
            for name, own in sorted(folders.items())
        ),
    )
    unread = f"Files that no importer reads: {len(found.unread)}."
    return f"{counts}\n\n{unread}"


def corpus_list(alarms: list[Alarm]) -> str:
    """Each alarm with what a person said of it, and the share that was wrong."""
    said = judged()
    verdicts = [said.get(alarm.key, "not looked at") for alarm in alarms]
    looked_at = len(alarms) - verdicts.count("not looked at")
    by_rule, by_reading = (
        Share(sum(verdict.startswith(f"wrong: {cause}") for verdict in verdicts), looked_at)
        for cause in ("rule", "read")
    )
    head = (
        f"Wrong by a rule: {with_interval(by_rule)}. Wrong because the file was not read as it is "
        f"meant: {with_interval(by_reading)}. Not looked at: {len(alarms) - looked_at}."
    )
    rows = table(
        ["run", "round", "detector", "why", "by eye"],
        (
            [
                f"{alarm.file} {alarm.run_id[-24:]}",
                _place(alarm),
                f"`{alarm.detector}`",
                _cell(UNQUOTED.sub("“…”", alarm.why)),
                _cell(verdict),
            ]
            for alarm, verdict in zip(alarms, verdicts, strict=True)
        ),
    )
    return f"{head}\n\n{rows}"


def _place(alarm: Alarm) -> str:
    """The round, and the one in which the run got over it."""
    return (
        f"{alarm.round}, over at {alarm.recovered_at}" if alarm.recovered_at else str(alarm.round)
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")[:160]


def speed(timings: list[Timing], memory: list[tuple[int, int]]) -> str:
    first = timings[0]
    rows = []
    for timing in timings:
        target = MILLISECONDS.get(timing.size)
        ratio = (timing.milliseconds / first.milliseconds) / (timing.size / first.size)
        rows.append(
            [
                f"{timing.size:,}",
                f"{timing.milliseconds:,.0f} ms",
                f"{target:,.0f} ms" if target else "",
                _met(timing.milliseconds < target) if target else "",
                f"{ratio:.2f}",
            ]
        )
    grown = table(["rounds of 2 KB", "time", "under", "met", "time a round, as a ratio"], rows)
    kept = ", ".join(
        f"{size:,} rounds: {peak / size / 1024:.1f} KiB a round" for size, peak in memory
    )
    return f"{grown}\n\nMemory that the analysis takes beyond the run: {kept}."


def loops(rows: Iterable[tuple[str, float, float]]) -> str:
    """Five times the rounds: linear is a ratio of five."""
    return table(
        ["wrong in every round", "1,000 rounds", "5,000", "ratio"],
        ([name, f"{one:.0f} ms", f"{two:.0f} ms", f"{two / one:.1f}"] for name, one, two in rows),
    )


def hostile(rows: Iterable[tuple[str, float, float]]) -> str:
    return table(
        ["result and arguments made of", "200,000 characters", "400,000", "ratio"],
        ([name, f"{one:.0f} ms", f"{two:.0f} ms", f"{two / one:.1f}"] for name, one, two in rows),
    )
