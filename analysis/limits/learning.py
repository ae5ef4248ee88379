"""What is normal for an agent, learned from its finished runs and kept for when it is asked for."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, Max, OuterRef
from django.db.models.functions import Left
from django.utils import timezone

from analysis.detectors.reading import judge
from analysis.detectors.reading.tools import nature_of
from analysis.models import LearnedBaseline
from transcripts.models import Project, Run
from transcripts.models.runs import KEY

# The latest runs that are looked at: what was normal a year ago need not be so now.
LATEST_RUNS = 1_000
# Calls are many: those of fewer runs tell as much.
LATEST_RUNS_FOR_CALLS = 300
FEWEST_CALLS = 20
# "In nearly all of its calls": one answer in twenty may be there.
SILENT_SHARE = 0.95
# Characters; nothing that is longer is an empty answer.
LONGEST_NOTHING = 300
LONGEST_NAME = 300
# Runs that came earlier and have ended since are learned with the next one that comes.
LOOKED_BACK = timedelta(days=1)

_RUNS = """
WITH latest AS (
    SELECT id, round_count, greatest(
        coalesce(extract(epoch FROM ended_at - started_at), duration_ms / 1000), 0) AS seconds
    FROM transcripts_run
    WHERE project_id = %s AND agent = %s AND ending = 'finished'
    ORDER BY received_at DESC, id DESC LIMIT %s
)
SELECT count(*),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY round_count),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE seconds > 0),
       array_agg(id ORDER BY id DESC)
FROM latest
"""
_COSTS = """
SELECT cost_currency, percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), count(*)
FROM analysis_verdict
WHERE run_id = ANY(%s) AND NOT flagged AND cost > 0
GROUP BY cost_currency ORDER BY cost_currency
"""
_TIMES = """
SELECT name, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms)
FROM transcripts_toolcall
WHERE run_id = ANY(%s) AND duration_ms IS NOT NULL AND length(name) <= %s AND name <> ''
GROUP BY name HAVING count(*) >= %s ORDER BY name
"""
_ANSWERS = """
SELECT name, CASE WHEN length(result) <= %s THEN result END AS said, count(*)
FROM transcripts_toolcall
WHERE run_id = ANY(%s) AND result IS NOT NULL AND is_error IS NOT TRUE
      AND length(name) <= %s AND name <> ''
GROUP BY name, said
"""


def baseline_learn(*, project: Project, agent: str) -> LearnedBaseline:
    """Learn again what is normal for one agent. Safe to run twice."""
    (runs, rounds, seconds, pks), *_ = _rows(_RUNS, project.pk, agent, LATEST_RUNS)
    pks = pks or []
    some = pks[:LATEST_RUNS_FOR_CALLS]
    learned, _ = LearnedBaseline.objects.update_or_create(
        project=project,
        agent=agent,
        defaults={
            "runs": runs,
            "rounds_p95": rounds,
            "seconds_p95": seconds,
            "cost_medians": {
                currency: [str(median), count] for currency, median, count in _rows(_COSTS, pks)
            },
            "tool_ms_p95": dict(_rows(_TIMES, some, LONGEST_NAME, FEWEST_CALLS)),
            "silent_tools": _silent_tools(_rows(_ANSWERS, LONGEST_NOTHING, some, LONGEST_NAME)),
            "learned_at": timezone.now(),
        },
    )
    return learned


def baselines_refresh() -> int:
    """Learn again for every agent with runs that have ended since; returns for how many."""
    refreshed = 0
    for project in Project.objects.order_by("pk"):
        _forget_gone(project)
        known = {
            learned.agent: learned.learned_at
            for learned in LearnedBaseline.objects.filter(project=project)
        }
        finished = Run.objects.filter(project=project, ending="finished")
        if known:
            finished = finished.filter(received_at__gt=timezone.now() - LOOKED_BACK)
        changed = finished.order_by().values_list("agent").annotate(latest=Max("updated_at"))
        for agent, at in changed:
            if len(agent) <= LONGEST_NAME and (agent not in known or at > known[agent]):
                baseline_learn(project=project, agent=agent)
                refreshed += 1
    return refreshed


def _forget_gone(project: Project) -> None:
    """Of an agent without a run nothing is kept: it was erased, or is called otherwise by now."""
    named = Run.objects.filter(project=project).annotate(key=Left("agent", KEY))
    gone = LearnedBaseline.objects.filter(project=project).annotate(key=Left("agent", KEY))
    gone.exclude(Exists(named.filter(key=OuterRef("key"), agent=OuterRef("agent")))).delete()


def baseline_for(*, project_id: int, agent: str) -> LearnedBaseline | None:
    """What was learned of one agent."""
    return LearnedBaseline.objects.filter(project_id=project_id, agent=agent).first()


def baseline_list(*, project: Project) -> list[LearnedBaseline]:
    """What was learned of the project's agents, by name."""
    return list(LearnedBaseline.objects.filter(project=project).order_by("agent"))


def _silent_tools(answers: list[tuple[Any, ...]]) -> dict[str, list[int]]:
    """Tools whose answers are empty in nearly all calls: [empty ones, all]."""
    total: Counter[str] = Counter()
    empty: Counter[str] = Counter()
    for name, said, count in answers:
        total[name] += count
        if said is not None and judge(said, nature_of(name))[0] is not None:
            empty[name] += count
    return {
        name: [empty[name], count]
        for name, count in sorted(total.items())
        if count >= FEWEST_CALLS and empty[name] >= SILENT_SHARE * count
    }


def _rows(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())
