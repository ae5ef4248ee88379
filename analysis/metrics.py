"""Figures of a project for Prometheus, from what stands in the database.

A scrape reads sums over all runs that are kept, so that a restart loses nothing; where retention
removes runs a counter falls, which `rate()` takes for a restart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.db import connection
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from transcripts.choices import DeliveryState
from transcripts.models import Project

ROUNDS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 300, 1_000, 10_000)
SECONDS = (1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400)
# Names of agents are the senders' own; so many of them have series of their own.
MOST_AGENTS = 100

_RUNS = """
SELECT r.agent, count(*), count(*) FILTER (WHERE v.flagged),
       count(*) FILTER (WHERE v.wasted_rounds > 0 OR v.kind = 'repeats'),
       sum(r.round_count), coalesce(sum(r.tokens_in), 0), coalesce(sum(r.tokens_out), 0),
       count(r.duration_ms), coalesce(sum(r.duration_ms), 0) / 1000.0,
       {rounds}, {seconds}
FROM transcripts_run r LEFT JOIN analysis_verdict v ON v.run_id = r.id
WHERE r.project_id = %s AND r.ending <> 'open'
GROUP BY r.agent ORDER BY count(*) DESC, r.agent LIMIT {agents}
"""
_ENDINGS = """
SELECT agent, ending, count(*) FROM transcripts_run WHERE project_id = %s GROUP BY agent, ending
"""
_COSTS = """
SELECT r.agent, coalesce(nullif(v.cost_currency, ''), 'USD'), sum(v.cost)
FROM transcripts_run r JOIN analysis_verdict v ON v.run_id = r.id
WHERE r.project_id = %s AND v.cost IS NOT NULL GROUP BY 1, 2
"""
_TOOLS = """
SELECT r.agent, u.tool, sum(u.calls), sum(u.failed), sum(u.hidden), sum(u.empty), sum(u.unanswered)
FROM analysis_tooluse u JOIN transcripts_run r ON r.id = u.run_id
WHERE r.project_id = %s GROUP BY r.agent, u.tool ORDER BY sum(u.calls) DESC LIMIT 500
"""
_WINDOW = """
SELECT r.agent, max(t.tokens_in::float / v.context_window)
FROM transcripts_run r
JOIN analysis_verdict v ON v.run_id = r.id AND v.context_window > 0
JOIN LATERAL (
  SELECT max(tokens_in) AS tokens_in FROM transcripts_round WHERE run_id = r.id
) t ON true
WHERE r.project_id = %s AND r.received_at > now() - interval '1 hour'
GROUP BY r.agent
"""
_DELIVERIES = """
SELECT state, count(*), extract(epoch FROM now() - min(received_at))
FROM transcripts_delivery WHERE project_id = %s GROUP BY state
"""
_UNSEARCHED = """
SELECT coalesce(extract(epoch FROM now() - min(d.since)), 0)
FROM transcripts_runtextdue d JOIN transcripts_run r ON r.id = d.run_id WHERE r.project_id = %s
"""


class ProjectMetrics(Collector):
    """What `/metrics` says of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def collect(self) -> Iterator[Metric]:
        started = time.perf_counter()
        yield from self._runs()
        yield from self._counts(
            "agentdesk_runs_by_ending", "Runs by ending.", ("agent", "ending"), _ENDINGS
        )
        yield from self._counts("agentdesk_cost", "Cost of runs.", ("agent", "currency"), _COSTS)
        yield from self._tools()
        yield from self._window()
        yield from self._deliveries()
        took = GaugeMetricFamily("agentdesk_scrape_seconds", "How long these figures took.")
        took.add_metric([], time.perf_counter() - started)
        yield took

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(query, (self.project.pk,))
            return list(cursor.fetchall())

    def _runs(self) -> Iterator[Metric]:
        rows = self._rows(
            _RUNS.format(
                rounds=_within("r.round_count", ROUNDS),
                seconds=_within("r.duration_ms / 1000.0", SECONDS),
                agents=MOST_AGENTS,
            )
        )
        runs = _counter("agentdesk_runs", "Runs that are over.")
        flagged = _counter("agentdesk_runs_flagged", "Of these, flagged.")
        loops = _counter("agentdesk_loops", "Of these, with a call that repeated itself.")
        tokens = CounterMetricFamily(
            "agentdesk_tokens", "Tokens of runs that are over.", labels=("agent", "direction")
        )
        rounds = HistogramMetricFamily("agentdesk_run_rounds", "Rounds a run.", labels=("agent",))
        seconds = HistogramMetricFamily(
            "agentdesk_run_duration_seconds", "How long a run took.", labels=("agent",)
        )
        for agent, count, odd, looped, total, read, written, timed, lasted, *buckets in rows:
            runs.add_metric([agent], count)
            flagged.add_metric([agent], odd)
            loops.add_metric([agent], looped)
            tokens.add_metric([agent, "in"], float(read))
            tokens.add_metric([agent, "out"], float(written))
            rounds.add_metric(
                [agent], _buckets(ROUNDS, buckets[: len(ROUNDS)], count), float(total or 0)
            )
            seconds.add_metric(
                [agent], _buckets(SECONDS, buckets[len(ROUNDS) :], timed), float(lasted)
            )
        yield from (runs, flagged, loops, tokens, rounds, seconds)

    def _counts(
        self, name: str, words: str, labels: tuple[str, str], query: str
    ) -> Iterator[Metric]:
        found = CounterMetricFamily(name, words, labels=labels)
        for first, second, count in self._rows(query):
            found.add_metric([first, second], float(count))
        yield found

    def _tools(self) -> Iterator[Metric]:
        found = CounterMetricFamily(
            "agentdesk_tool_calls",
            "Calls of tools, by what came back; hidden are errors without a flag.",
            labels=("agent", "tool", "outcome"),
        )
        for agent, tool, calls, failed, hidden, empty, unanswered in self._rows(_TOOLS):
            outcomes = {
                "answered": calls - failed - empty - unanswered,
                "failed": failed - hidden,
                "hidden_error": hidden,
                "empty": empty,
                "unanswered": unanswered,
            }
            for outcome, count in outcomes.items():
                found.add_metric([agent, tool, outcome], float(count))
        yield found

    def _window(self) -> Iterator[Metric]:
        found = GaugeMetricFamily(
            "agentdesk_window_use_ratio",
            "The fullest input of the last hour, as a share of the model's window.",
            labels=("agent",),
        )
        for agent, share in self._rows(_WINDOW):
            if share is not None:
                found.add_metric([agent], float(share))
        yield found

    def _deliveries(self) -> Iterator[Metric]:
        states = GaugeMetricFamily(
            "agentdesk_deliveries", "Deliveries by state.", labels=("state",)
        )
        age = GaugeMetricFamily(
            "agentdesk_queue_age_seconds", "How long the oldest waiting delivery has waited."
        )
        found = {state: (count, seconds) for state, count, seconds in self._rows(_DELIVERIES)}
        for state in DeliveryState:
            states.add_metric([state.value], found.get(state.value, (0, 0))[0])
        age.add_metric([], float(found.get(DeliveryState.ACCEPTED.value, (0, 0))[1]))
        search = GaugeMetricFamily(
            "agentdesk_search_age_seconds",
            "How long the run that has waited longest has not been searched in full.",
        )
        ((unsearched,),) = self._rows(_UNSEARCHED)
        search.add_metric([], float(unsearched))
        yield from (states, age, search)


def _counter(name: str, words: str) -> CounterMetricFamily:
    return CounterMetricFamily(name, words, labels=("agent",))


def _within(column: str, limits: tuple[int, ...]) -> str:
    return ", ".join(f"count(*) FILTER (WHERE {column} <= {limit})" for limit in limits)


def _buckets(limits: tuple[int, ...], counts: list[Any], total: int) -> list[tuple[str, float]]:
    found = [(str(float(limit)), float(count)) for limit, count in zip(limits, counts, strict=True)]
    return [*found, ("+Inf", float(total))]
