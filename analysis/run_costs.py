"""What a run cost beside what such runs usually cost, and what its repeats took."""

from __future__ import annotations

from decimal import Decimal
from statistics import median

from analysis.models import Verdict
from transcripts.choices import Ending
from transcripts.models import Run
from transcripts.run_facts import Fact
from transcripts.templatetags.measures import grouped, lasted, money

# The latest normal runs of the agent that are looked at, and the fewest that say what is normal.
LATEST, FEWEST = 200, 5
# Below it a run costs about what others do.
WORTH_SAYING = Decimal("1.5")


def normal_cost(run: Run) -> Decimal | None:
    """The median cost of the agent's finished runs that are not flagged, in the run's currency.

    None where the run has no cost, or too few others have one.
    """
    if run.cost is None:
        return None
    costs = list(
        Run.objects.filter(
            project=run.project_id,
            agent=run.agent,
            currency=run.currency,
            ending=Ending.FINISHED,
            verdict__flagged=False,
            cost__gt=0,
        )
        .exclude(pk=run.pk)
        .order_by("-received_at", "-pk")
        .values_list("cost", flat=True)[:LATEST]
    )
    known = [cost for cost in costs if cost is not None]
    return median(known) if len(known) >= FEWEST else None


def cost_note(cost: Decimal | None, normal: Decimal | None) -> str:
    """ "70 times a normal run", or nothing where it is about the same."""
    if cost is None or not normal or cost < normal * WORTH_SAYING:
        return ""
    times = cost / normal
    return f"{times:,.0f} times a normal run" if times >= 10 else f"{times:.1f} times a normal run"


def repeats_fact(run: Run, verdict: Verdict | None) -> Fact | None:
    """What the rounds took that only repeated: "44 rounds, ₹370, 31 min"."""
    wasted = verdict.wasted if verdict else {}
    rounds = wasted.get("rounds") or 0
    if not rounds:
        return None
    cost = Decimal(wasted["cost"]) if wasted.get("cost") else None
    seconds = wasted.get("seconds")
    parts = [
        f"{grouped(rounds)} round{'' if rounds == 1 else 's'}",
        money(cost, run.currency),
        lasted(seconds * 1000) if seconds else "",
    ]
    return Fact(
        "repeats took",
        ", ".join(part for part in parts if part),
        title="rounds after the third time round that only repeat",
        tone="warn",
    )
