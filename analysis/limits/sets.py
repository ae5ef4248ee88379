"""Limits as people set them: what holds for a run, and every change of it.

A set belongs to a scope: the project, one of its agents, a tool, or a tool of one agent. The
narrower goes before the wider, value by value; what is set nowhere is learned
(`analysis.limits.learning`) or default (`analysis.detectors.limits`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.http import HttpRequest
from django.utils import timezone

from analysis.detectors.limits import Baseline, Limits, LimitsError, limits_from, named
from analysis.models import LearnedBaseline, LimitSet
from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.maskers import typed_masker
from transcripts.models import Project, User
from transcripts.undo_rows import Pair, Rows

# Of a whole project or agent; the names of the limits file.
RUN_VALUES = (
    "rounds",
    "seconds",
    "cost",
    "context_window",
    "repeat_limit",
    "repeat_mode",
    "repeat_window",
    "idle_seconds",
)
# Of a tool. `effect`: whether it changes the world, where its name does not say.
TOOL_VALUES = ("repeat_limit", "polled", "silent", "effect")
EFFECTS = {"changes": "mutating", "reads": "reading"}
LONGEST_NAME = 300

Values = dict[str, Any]
LIMIT_SETS = Rows(LimitSet, ("agent", "tool", "values"), name=lambda _: "A set of limits")


@dataclass(frozen=True)
class Scope:
    """Whose limits: empty `agent` or `tool` means all of them."""

    agent: str = ""
    tool: str = ""


def masked_scope(project: Project, scope: Scope) -> Scope:
    """The scope as it is kept: names are typed by people, who paste what they have at hand."""
    masker = typed_masker(project)
    return Scope(masker.text(scope.agent), masker.text(scope.tool))


@dataclass(frozen=True)
class Applied:
    """The limits of an agent. `digest` names what is set; what is learned does not change it."""

    limits: Limits
    digest: str


@dataclass(frozen=True)
class LimitBook:
    """All sets of one project, by scope."""

    sets: Mapping[Scope, Values] = field(default_factory=dict)

    def of(self, scope: Scope) -> Values:
        """What is set for exactly this scope."""
        return dict(self.sets.get(scope, {}))

    def with_set(self, scope: Scope, values: Values) -> LimitBook:
        """The book as it would be with other values for one scope."""
        return LimitBook({**self.sets, scope: values})

    def run_values(self, agent: str) -> Values:
        """What holds for an agent's runs, without its tools."""
        return {**self.of(Scope()), **(self.of(Scope(agent)) if agent else {})}

    def idle(self, agent: str) -> timedelta:
        """How long a live run of the agent may be quiet before it counts as over."""
        default = settings.AGENTDESK_RUN_IDLE_SECONDS
        return timedelta(seconds=float(self.run_values(agent).get("idle_seconds", default)))

    def tool_values(self, agent: str) -> dict[str, Values]:
        """What holds for an agent's tools, by name as it was set."""
        found: dict[str, Values] = {}
        for owner in ("", agent) if agent else ("",):
            for scope, values in self.sets.items():
                if scope.agent == owner and scope.tool:
                    found[scope.tool] = {**found.get(scope.tool, {}), **values}
        return found

    def applied(self, agent: str, baseline: Baseline | None = None) -> Applied:
        """The limits that hold for an agent's runs."""
        values, tools = self.run_values(agent), self.tool_values(agent)
        content = {**values, **_tool_content(tools)}
        told = json.dumps([values, tools], sort_keys=True)
        limits = limits_from(content)
        if baseline is not None:
            answering = frozenset(n for n, each in tools.items() if each.get("silent") is False)
            limits = replace(limits, baseline=_without_silent(baseline, answering))
        digest = hashlib.sha256(told.encode()).hexdigest()[:16] if values or tools else ""
        return Applied(limits, digest)

    @property
    def agents(self) -> list[str]:
        """The agents with sets of their own."""
        return sorted({scope.agent for scope in self.sets if scope.agent})


def limit_book(*, project_id: int) -> LimitBook:
    """The project's sets. One query."""
    rows = LimitSet.objects.filter(project_id=project_id).order_by("agent", "tool")
    return LimitBook({Scope(row.agent, row.tool): row.values for row in rows})


_KNOWN = """
SELECT agent, tool, values::text FROM analysis_limitset WHERE project_id = %s
UNION ALL
SELECT NULL, NULL, json_build_object(
    'runs', runs, 'rounds_p95', rounds_p95, 'seconds_p95', seconds_p95,
    'cost_medians', cost_medians, 'tool_ms_p95', tool_ms_p95, 'silent_tools', silent_tools)::text
FROM analysis_learnedbaseline WHERE project_id = %s AND agent = %s
"""


def known_limits(*, project_id: int, agent: str) -> tuple[LimitBook, LearnedBaseline | None]:
    """The project's sets and what was learned of an agent. One plain query: each delivery asks."""
    sets: dict[Scope, Values] = {}
    learned = None
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, (project_id, project_id, agent))
        for owner, tool, told in cursor.fetchall():
            values = json.loads(told)
            if owner is None:
                learned = LearnedBaseline(project_id=project_id, agent=agent, **values)
            else:
                sets[Scope(owner, tool)] = values
    return LimitBook(sets), learned


def baseline_of(learned: LearnedBaseline | None, *, currency: str) -> Baseline:
    """What was learned, as detectors read it; the cost in that currency, where 20 runs tell it."""
    if learned is None:
        return Baseline()
    cost, runs = learned.cost_medians.get(currency, (None, 0))
    content = {
        "runs": learned.runs,
        "rounds_p95": learned.rounds_p95 or None,
        "seconds_p95": learned.seconds_p95 or None,
        "tool_ms_p95": {tool: ms for tool, ms in learned.tool_ms_p95.items() if ms > 0},
        "silent_tools": list(learned.silent_tools),
    }
    baseline = limits_from({"baseline": content}).baseline
    if cost is not None and replace(baseline, runs=runs).known:
        baseline = replace(baseline, cost_median=limits_from({"cost": cost}).cost)
    return baseline


def clean_values(scope: Scope, values: Mapping[str, Any]) -> Values:
    """`values` as they are kept, without what is not set. Raises LimitsError that names one."""
    kept = {name: value for name, value in values.items() if value not in (None, "")}
    known = TOOL_VALUES if scope.tool else RUN_VALUES
    for name in kept:
        if name not in known:
            raise LimitsError(f"{name}: no such limit; there are {', '.join(known)}")
    if scope.tool:
        for name in ("polled", "silent"):
            if not isinstance(kept.get(name, True), bool):
                raise LimitsError(f"{name}: must be true or false")
        if kept.get("effect", "reads") not in EFFECTS:
            raise LimitsError(f"effect: must be one of {', '.join(EFFECTS)}")
        limits_from(_tool_content({scope.tool: kept}))
    else:
        limits_from(kept)
    if max(len(scope.agent), len(scope.tool)) > LONGEST_NAME:
        raise LimitsError(f"a name may have {LONGEST_NAME} characters")
    return kept


@transaction.atomic
def limit_set_save(
    *, project: Project, scope: Scope, values: Mapping[str, Any], user: User, request: HttpRequest
) -> Pair | None:
    """Set the limits of a scope; returns what takes it back (`transcripts.undo_rows`), None where
    nothing changes. Leaves a line in the audit log, with the values before and after. Raises
    LimitsError.
    """
    after = clean_values(scope, values)
    scope = masked_scope(project, scope)
    Project.objects.select_for_update().get(pk=project.pk)
    row = LimitSet.objects.filter(project=project, agent=scope.agent, tool=scope.tool).first()
    before, told = row.values if row else {}, LIMIT_SETS.told(row)
    if before == after:
        return None
    access_record(
        project=project,
        action=AccessAction.SETTINGS,
        user=user,
        request=request,
        detail={
            "limits": {"agent": scope.agent, "tool": scope.tool},
            "before": before,
            "after": after,
        },
    )
    if row and not after:
        row.delete()
        return told, None
    kept, _ = LimitSet.objects.update_or_create(
        project=project,
        agent=scope.agent,
        tool=scope.tool,
        defaults={"values": after, "changed_at": timezone.now()},
    )
    return told, LIMIT_SETS.told(kept)


@transaction.atomic
def limits_import(
    *, project: Project, agent: str, content: Any, user: User, request: HttpRequest
) -> list[Pair]:
    """Put a limits file in the place of what is set for the project or agent and its tools.

    What was learned is in the file for `check` alone, and is passed over. Returns what takes each
    set that changed back. Raises LimitsError.
    """
    wanted = sets_of_file(agent, content)
    scopes = {Scope(agent), *wanted}
    scopes |= {scope for scope in limit_book(project_id=project.pk).sets if scope.agent == agent}
    ordered = sorted(scopes, key=lambda scope: scope.tool)
    saved = [
        limit_set_save(
            project=project,
            scope=scope,
            values=wanted.get(scope, {}),
            user=user,
            request=request,
        )
        for scope in ordered
    ]
    return [pair for pair in saved if pair is not None]


def sets_of_file(agent: str, content: Any) -> dict[Scope, Values]:
    """What a limits file sets, by scope. Raises LimitsError."""
    limits_from(content)
    found: dict[Scope, Values] = {
        Scope(agent): {name: content[name] for name in RUN_VALUES if content.get(name) is not None}
    }
    tools: list[tuple[str, str, Any]] = [
        (tool, "repeat_limit", allowed)
        for tool, allowed in (content.get("repeat_limits") or {}).items()
    ]
    for name in ("polled", "silent"):
        tools += [(tool, name, True) for tool in content.get(name) or ()]
    for effect, name in EFFECTS.items():
        tools += [(tool, "effect", effect) for tool in content.get(name) or ()]
    for tool, name, value in tools:
        found.setdefault(Scope(agent, tool), {})[name] = value
    return found


def _tool_content(tools: Mapping[str, Values]) -> Values:
    """The tools' values as the limits file has them."""
    content: Values = {
        "repeat_limits": {
            tool: each["repeat_limit"] for tool, each in tools.items() if "repeat_limit" in each
        }
    }
    for name in ("polled", "silent"):
        content[name] = [tool for tool, each in tools.items() if each.get(name) is True]
    for effect, name in EFFECTS.items():
        content[name] = [tool for tool, each in tools.items() if each.get("effect") == effect]
    return content


def _without_silent(baseline: Baseline, answering: frozenset[str]) -> Baseline:
    """Without the tools of which a person says that they must answer."""
    if not answering:
        return baseline
    kept = frozenset(tool for tool in baseline.silent_tools if not named(tool, answering))
    return replace(baseline, silent_tools=kept)
