"""The facts of a run in words, for the head of its page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transcripts.models import Run
from transcripts.templatetags.measures import compact, grouped, lasted

GAPS_NAMED = 20
_STATED = (
    ("unanswered_calls", "calls without a result"),
    ("orphan_results", "results that answer no call"),
    ("missing_stops", "rounds without a stop label"),
    ("folded", "repeated rounds that changed nothing"),
    ("replaced", "rounds that were replaced"),
    ("late", "rounds that came late"),
)


@dataclass(frozen=True)
class Fact:
    """`name` and `value` are shown; `title` explains on hover; `tone` colours what is wrong."""

    name: str
    value: str
    note: str = ""
    title: str = ""
    tone: str = ""


def run_facts(run: Run, *, cost: Fact) -> list[Fact]:
    """Ending, `cost`, time, tokens, versions, completeness and masking; those that are known."""
    said = "" if run.ending_said else "read from the rounds; the sender did not say"
    facts = [
        Fact("ending", run.get_ending_display(), title=run.ending_reason or said),
        cost,
        Fact("time", lasted(run.duration_ms)),
        Fact("tokens", _tokens(run), title=_cached(run)),
        Fact("model", run.model, title=run.provider),
        Fact("prompt", run.prompt_version),
        Fact("code", run.code_version),
        Fact("transcript", "removed") if run.text_removed_at else transcript_fact(run.completeness),
        masked_fact(run),
    ]
    return [fact for fact in facts if fact.value]


def transcript_fact(completeness: dict[str, Any]) -> Fact:
    """Whether all of the run is here: "complete, 52 of 52", or what is missing."""
    if not completeness:
        return Fact("transcript", "")
    received = completeness.get("rounds_received", 0)
    expected = completeness.get("rounds_expected", 0)
    gaps = completeness.get("gaps", [])
    missing = [
        f"round {first} is missing" if first == last else f"rounds {first} to {last} are missing"
        for first, last in gaps[:3]
    ]
    if len(gaps) > 3:
        missing.append(f"{len(gaps) - 3} more gaps")
    unanswered = completeness.get("unanswered_calls", 0)
    if unanswered:
        missing.append(
            f"{grouped(unanswered)} call{'s' if unanswered > 1 else ''} without a result"
        )
    orphans = completeness.get("orphan_results", 0)
    if orphans:
        missing.append(
            "1 result that answers no call"
            if orphans == 1
            else f"{grouped(orphans)} results that answer no call"
        )
    notes = [
        f"{grouped(completeness[name])} {one if completeness[name] == 1 else many} {words}"
        for name, one, many, words in (
            ("missing_stops", "round", "rounds", "without a stop label"),
            ("folded", "repeat", "repeats", "folded on arrival"),
            ("replaced", "round", "rounds", "replaced"),
            ("late", "round", "rounds", "came late"),
        )
        if completeness.get(name)
    ]
    count = f"{grouped(received)} of {grouped(expected)}"
    if missing:
        return Fact(
            "transcript", f"incomplete, {count}", "; ".join(missing), "; ".join(notes), "warn"
        )
    return Fact("transcript", f"complete, {count}", title="; ".join(notes))


def completeness_rows(completeness: dict[str, Any]) -> list[Fact]:
    """The whole statement of completeness, each point with its count, also those that are 0."""
    if not completeness:
        return []
    gaps = completeness.get("gaps", [])
    spans = ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in gaps[:GAPS_NAMED]
    )
    more = f", and {len(gaps) - GAPS_NAMED} more gaps" if len(gaps) > GAPS_NAMED else ""
    wrong = ("unanswered_calls", "orphan_results")
    rows = [
        Fact("rounds expected", grouped(completeness.get("rounds_expected", 0))),
        Fact("rounds received", grouped(completeness.get("rounds_received", 0))),
        Fact("missing rounds", spans + more or "none", tone="warn" if gaps else ""),
    ]
    for key, name in _STATED:
        count = completeness.get(key, 0)
        rows.append(Fact(name, grouped(count), tone="warn" if count and key in wrong else ""))
    return rows


def masked_fact(run: Run) -> Fact:
    """How many secrets were masked before the run was stored, by rule on hover."""
    hits = sum(run.mask_hits.values())
    rules = ", ".join(f"{rule} {count}" for rule, count in sorted(run.mask_hits.items()))
    words = "nothing found" if not hits else f"{hits} secret{'s' if hits > 1 else ''}"
    return Fact(
        "masked", words, title=f"rule set {run.mask_rule_set}{': ' if rules else ''}{rules}"
    )


def _cached(run: Run) -> str:
    """Of the tokens read, those that the service had in its cache; they are among them."""
    return f"{grouped(run.tokens_cached)} of those in were cached" if run.tokens_cached else ""


def _tokens(run: Run) -> str:
    if run.tokens_in is None and run.tokens_out is None:
        return ""
    known = ((run.tokens_in, "in"), (run.tokens_out, "out"))
    return ", ".join(f"{compact(count)} {way}" for count, way in known if count is not None)
