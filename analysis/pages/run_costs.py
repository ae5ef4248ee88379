"""What a run cost beside what such runs usually cost, what its repeats took, and how much its model
can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from analysis.detectors.limits import MIN_RUNS_LEARNED
from analysis.limits.learning import baseline_for
from analysis.models import Finding, Verdict
from transcripts.models import Run
from transcripts.run_facts import Fact
from transcripts.templatetags.measures import compact, grouped, lasted, money

# Below it a run costs about what others do.
WORTH_SAYING = Decimal("1.5")
WINDOW_FROM = {
    "the run": "as the run says",
    "the settings": "as set for the agent or the project",
    "the price list": "as the price list says of the model",
}


def normal_cost(run: Run, currency: str) -> tuple[Decimal, int] | None:
    """The median cost of the agent's normal runs in that currency, and of how many.

    None where nothing was learned, or from fewer runs than tell what is normal.
    """
    learned = baseline_for(project_id=run.project_id, agent=str(run.agent))
    if learned is None:
        return None
    median, runs = learned.cost_medians.get(currency, ("0", 0))
    return (Decimal(median), runs) if runs >= MIN_RUNS_LEARNED else None


def cost_fact(run: Run, verdict: Verdict | None) -> Fact:
    """What the run cost, whether that was computed, and how many times a normal run it is."""
    if verdict is None or verdict.cost is None:
        return Fact("cost", money(run.cost, run.currency))
    normal = normal_cost(run, verdict.cost_currency)
    notes = ["computed from tokens" if verdict.cost_computed else ""]
    if verdict.cost_rounds < run.round_count:
        notes.append(
            f"known of {grouped(verdict.cost_rounds)} of {grouped(run.round_count)} rounds"
        )
    title = "the price list at the time of the run" if verdict.cost_computed else ""
    if normal is not None:
        median, runs = normal
        notes.append(cost_note(verdict.cost, median))
        usual = f"a normal run costs {money(median, verdict.cost_currency)}"
        title = "; ".join(filter(None, [title, f"{usual}: the median of {grouped(runs)}"]))
    return Fact(
        "cost",
        money(verdict.cost, verdict.cost_currency),
        ", ".join(filter(None, notes)),
        title,
    )


def cost_note(cost: Decimal | None, normal: Decimal | None) -> str:
    """ "70 times a normal run", or nothing where it is about the same."""
    if cost is None or not normal or cost < normal * WORTH_SAYING:
        return ""
    times = cost / normal
    return f"{times:,.0f} times a normal run" if times >= 10 else f"{times:.1f} times a normal run"


def window_fact(verdict: Verdict | None) -> Fact | None:
    """How many tokens the model can read, and where that is known from; or that it is not."""
    if verdict is None:
        return None
    if verdict.context_window is None:
        why = "neither the run nor the settings say it, and the price list does not have the model"
        return Fact("window", "unknown", title=why)
    source = WINDOW_FROM.get(verdict.window_from, verdict.window_from)
    return Fact("window", compact(verdict.context_window), source)


def repeats_fact(run: Run, verdict: Verdict | None) -> Fact | None:
    """What the rounds took that only repeated: "44 rounds, ₹370, 31 min"."""
    told = took(verdict.wasted, _currency(run, verdict)) if verdict else ""
    if not told:
        return None
    title = "rounds after the third time round that only repeat"
    return Fact("repeats took", told, title=title, tone="warn")


def finding_took(finding: Finding, run: Run, verdict: Verdict | None) -> str:
    """What one repetition took after the third identical call; empty for what is none."""
    return took(finding.wasted, _currency(run, verdict))


def took(wasted: Mapping[str, Any], currency: str) -> str:
    """Rounds, tokens, cost and time of a repetition, those that are known."""
    rounds = wasted.get("rounds") or 0
    if not rounds:
        return ""
    cost, seconds, tokens = (wasted.get(name) for name in ("cost", "seconds", "tokens"))
    parts = [
        f"{grouped(rounds)} round{'' if rounds == 1 else 's'}",
        f"{compact(tokens)} tokens" if tokens else "",
        money(Decimal(cost), currency) if cost else "",
        lasted(seconds * 1000) if seconds else "",
    ]
    return ", ".join(part for part in parts if part)


def _currency(run: Run, verdict: Verdict | None) -> str:
    return str(verdict.cost_currency if verdict and verdict.cost is not None else run.currency)
