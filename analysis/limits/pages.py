"""What the limits page says beside its form: what holds otherwise, what was learned, which tools
there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.forms import BoundField
from django.utils.http import urlencode

from analysis.detectors.limits import DEFAULT, MIN_RUNS_LEARNED, Limits, named
from analysis.detectors.reading.tools import Effect, nature_of
from analysis.detectors.round_limit_passed import DEFAULT_LIMIT
from analysis.limits.forms import HELP, IN_MINUTES, MODES, LimitsForm
from analysis.limits.sets import LimitBook, Scope, baseline_of
from analysis.limits.words import (
    cost_limit,
    effect_words,
    round_limit,
    time_limit,
    times,
    tool_words,
    value_words,
)
from analysis.models import LearnedBaseline
from transcripts.models import Project, Run
from transcripts.templatetags.measures import grouped, lasted, money

# Tools are those of the latest runs; who needs another gives its name.
LATEST_RUNS = 200
MOST_TOOLS = 60
# What holds for all agents is learned of each of them.
OF_ITS_AGENT = {
    "rounds": f"as the run says, else as learned of its agent, else {DEFAULT_LIMIT}",
    "minutes": "as the run says, else as learned of its agent",
    "cost": "as the run says, else as learned of its agent",
}

_TOOLS = """
SELECT name, count(*) FROM transcripts_toolcall
WHERE run_id = ANY(%s) AND length(name) BETWEEN 1 AND 300
GROUP BY name ORDER BY count(*) DESC, name LIMIT %s
"""


@dataclass(frozen=True)
class LimitRow:
    """A field with its help, and what holds where it is left empty."""

    field: BoundField
    help: str
    otherwise: str


@dataclass(frozen=True)
class ToolRow:
    """A tool, what is set for it in words, and what is known of it without."""

    name: str
    calls: int | None
    told: str
    known: str
    query: str


@dataclass(frozen=True)
class LearnedRow:
    """What was learned of an agent, in words. `used` says whether it is enough to go by."""

    agent: str
    used: bool
    basis: str
    rounds: str
    time: str
    cost: str
    silent: str


def limit_rows(
    form: LimitsForm, *, book: LimitBook, scope: Scope, learned: LearnedBaseline | None
) -> list[LimitRow]:
    """The form's fields in order."""
    return [
        LimitRow(field, HELP[field.name], _otherwise(field.name, book, scope, learned))
        for field in form
    ]


def tool_rows(
    *, project: Project, book: LimitBook, scope: Scope, learned: LearnedBaseline | None
) -> list[ToolRow]:
    """The tools that the latest runs called, and those with limits of their own."""
    runs = Run.objects.filter(project=project)
    calls = _tools_of(runs.filter(agent=scope.agent) if scope.agent else runs)
    values = book.tool_values(scope.agent)
    names = [*sorted(name for name in values if name not in calls), *calls]
    silent = learned.silent_tools if learned else {}
    return [
        ToolRow(
            name=name,
            calls=calls.get(name),
            told=tool_words(values.get(name, {})),
            known=_tool_known(name, silent),
            query=urlencode({"agent": scope.agent, "tool": name}),
        )
        for name in names
    ]


def learned_rows(baselines: Sequence[LearnedBaseline]) -> list[LearnedRow]:
    """What was learned of each agent, with its basis."""
    return [_learned_row(learned) for learned in baselines]


def _otherwise(name: str, book: LimitBook, scope: Scope, learned: LearnedBaseline | None) -> str:
    """What holds where the field is empty: what is set more widely, learned, or default."""
    if scope.tool:
        wider = book.of(Scope("", scope.tool)) if scope.agent else {}
        if name in wider:
            return f"for all agents: {value_words(name, wider[name])}"
        return _tool_otherwise(name, book, scope, learned)
    key = IN_MINUTES.get(name, name)
    wider = book.of(Scope()) if scope.agent else {}
    if key in wider:
        return f"for all agents: {value_words(key, wider[key])}"
    if not scope.agent and name in OF_ITS_AGENT:
        return OF_ITS_AGENT[name]
    limits = Limits(baseline=baseline_of(learned, currency=main_currency(learned)))
    words: dict[str, Callable[[], str]] = {
        "rounds": lambda: round_limit(limits),
        "minutes": lambda: time_limit(limits),
        "cost": lambda: cost_limit(limits),
        "context_window": lambda: "as the run or the price list says",
        "repeat_limit": lambda: times(DEFAULT.repeat_limit),
        "repeat_mode": lambda: MODES[DEFAULT.repeat_mode],
        "repeat_window": lambda: f"{DEFAULT.repeat_window} calls",
        "quiet_minutes": lambda: lasted(settings.AGENTDESK_RUN_IDLE_SECONDS * 1000),
    }
    return words[name]()


def _tool_otherwise(
    name: str, book: LimitBook, scope: Scope, learned: LearnedBaseline | None
) -> str:
    nature = nature_of(scope.tool)
    if name == "repeat_limit":
        values = book.run_values(scope.agent)
        return times(values.get("repeat_limit", DEFAULT.repeat_limit))
    if name == "polled":
        return "no"
    if name == "effect":
        return f"by its name: {effect_words(nature.effect)}"
    if nature.silent:
        return "yes, by its name"
    empty = (learned.silent_tools if learned and learned.runs >= MIN_RUNS_LEARNED else {}).get(
        scope.tool
    )
    return f"yes, learned: empty in {empty[0]:,} of {empty[1]:,} calls" if empty else "no"


def _tool_known(name: str, silent: dict[str, list[int]]) -> str:
    nature = nature_of(name)
    parts = [effect_words(nature.effect)] if nature.effect in (Effect.CHANGES, Effect.READS) else []
    if nature.silent:
        parts.append("silent")
    elif name in silent and not named(name, DEFAULT.silent):
        parts.append(f"empty in {silent[name][0]:,} of {silent[name][1]:,} calls")
    return ", ".join(parts)


def _tools_of(runs: QuerySet[Run]) -> dict[str, int]:
    """Calls by tool in the latest runs, most first."""
    latest = list(runs.order_by("-received_at", "-pk").values_list("pk", flat=True)[:LATEST_RUNS])
    with connection.cursor() as cursor:
        cursor.execute(_TOOLS, (latest, MOST_TOOLS))
        return dict(cursor.fetchall())


def main_currency(learned: LearnedBaseline | None) -> str:
    """The currency that most of the agent's runs cost in."""
    medians = learned.cost_medians if learned else {}
    return max(medians, key=lambda currency: int(medians[currency][1]), default="")


def _learned_row(learned: LearnedBaseline) -> LearnedRow:
    used = learned.runs >= MIN_RUNS_LEARNED
    basis = f"from {grouped(learned.runs)} finished run{'' if learned.runs == 1 else 's'}"
    if not used:
        basis += f", not used under {MIN_RUNS_LEARNED}"
    costs = [
        f"{money(Decimal(median), currency)} ({grouped(runs)} normal run{'' if runs == 1 else 's'}"
        f"{'' if runs >= MIN_RUNS_LEARNED else f', not used under {MIN_RUNS_LEARNED}'})"
        for currency, (median, runs) in learned.cost_medians.items()
    ]
    return LearnedRow(
        agent=learned.agent,
        used=used,
        basis=basis,
        rounds=f"{learned.rounds_p95:.0f}" if learned.rounds_p95 is not None else "",
        time=lasted(learned.seconds_p95 * 1000) if learned.seconds_p95 else "",
        cost=", ".join(costs),
        silent=", ".join(learned.silent_tools),
    )
