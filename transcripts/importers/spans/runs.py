"""Puts the spans of one trace together as runs: the agent's own, and one for each agent within it.

What comes out depends on the set of spans alone, not on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from transcripts.importers.base import ImportProblem
from transcripts.importers.fields import args_text, value_of
from transcripts.importers.observations import run_of_observations
from transcripts.importers.spans.dialects import PLAIN, read_span
from transcripts.importers.spans.span import Span, text_of
from transcripts.importers.spans.told import AGENT, Told
from transcripts.record import Ending, RunRecord

RUN_ID_KEY = "agentdesk.run_id"
RESPONSE_KEY = "gen_ai.response.id"
MAIN = ""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
NO_REQUESTS = (
    "No span tells of a model request: round 1 stands for all that asked for a tool, the last "
    "round for the agent's answer."
)


@dataclass(slots=True)
class Trace:
    """The spans of one run and of the runs within it, as far as they have come.

    `root`: the span that all others are below, which ends last.
    """

    spans: dict[str, Told] = field(default_factory=dict)
    doubled: int = 0
    plain: int = 0
    service: str = ""
    version: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def root(self) -> Told | None:
        return min(
            (span for span in self.spans.values() if not span.parent),
            key=lambda span: (span.order, span.id),
            default=None,
        )

    @property
    def in_order(self) -> list[Told]:
        return sorted(self.spans.values(), key=lambda span: (span.order, span.id))


def run_key(span: Span) -> str:
    """Which run a span belongs to, decided by the span alone.

    The sender's own `agentdesk.run_id`, of the span or its process; else the trace. A model request
    that is a trace by itself belongs to its conversation, where it names one.
    """
    said = text_of(span.attributes, RUN_ID_KEY) or text_of(span.source.resource, RUN_ID_KEY)
    if said or span.parent_id:
        return said or span.trace_id
    _, told = read_span(span)
    if told.kind == "llm" and told.conversation:
        return told.conversation
    return span.trace_id


def is_root(span: Span, key: str) -> bool:
    """Whether the run is over with this span: the root of its trace."""
    return not span.parent_id and key == span.trace_id


def trace_of(spans: Iterable[Span]) -> Trace:
    """The spans of one run. One id with two contents stands for the span that ended last."""
    trace = Trace()
    by_id: dict[str, Span] = {}
    for span in spans:
        earlier = by_id.get(span.span_id)
        if earlier is not None and earlier != span:
            trace.doubled += 1
            if _weight(earlier) > _weight(span):
                continue
        by_id[span.span_id] = span
    for id_, span in sorted(by_id.items()):
        dialect, trace.spans[id_] = read_span(span)
        trace.plain += dialect == PLAIN
        resource = span.source.resource
        trace.service = trace.service or text_of(resource, "service.name")
        trace.version = trace.version or text_of(resource, "service.version")
    if cut := _cut_cycles(trace.spans):
        trace.notes.append(f"Parents in a cycle, taken for roots: {cut}.")
    if trace.service.startswith("unknown_service"):
        trace.service = ""
    return trace


def _cut_cycles(spans: Mapping[str, Told]) -> int:
    """Make the first span of each cycle of parents a root; how many there are."""
    done: set[str] = set()
    cut = 0
    for id_ in spans:
        way: dict[str, None] = {}
        at = id_
        while at in spans and at not in done and at not in way:
            way[at] = None
            at = spans[at].parent
        if at in way:
            ids = list(way)
            cycle = [spans[each] for each in ids[ids.index(at) :]]
            min(cycle, key=lambda span: (span.order, span.id)).parent = ""
            cut += 1
        done.update(way)
    return cut


def _weight(span: Span) -> tuple[int, int, str]:
    return span.end, len(span.attributes), repr(sorted(span.attributes.items()))


def runs_of(trace: Trace, run_id: str) -> Iterator[RunRecord]:
    """The runs of a trace: the one with `run_id` first, then those within it. None without a model
    request.
    """
    _count_once(trace.spans.values())
    _stand_in(trace)
    homes = _Homes(trace.spans)
    groups: dict[str, list[Told]] = {}
    for span in trace.in_order:
        groups.setdefault(homes.home_of(span), []).append(span)
    shown = [home for home, spans in groups.items() if any(span.kind == "llm" for span in spans)]
    if MAIN not in shown and len(shown) == 1:
        # The one agent within stands for the whole.
        groups[MAIN] = [span for spans in groups.values() for span in spans]
        shown = [MAIN]
    names = {home: f"{run_id}:{home}" if home else run_id for home in shown}
    for home in shown:
        if home in trace.spans:
            trace.spans[home].sub_run = names[home]
    for home in sorted(shown):
        parent = homes.outer(home, names)
        yield _run(trace, groups[home], names[home], names.get(parent, "") if home else "", home)


def _count_once(spans: Iterable[Told]) -> None:
    """Of two spans that tell of one request the one with messages counts.

    The other one may know the service's own stop label.
    """
    by_response: dict[str, list[Told]] = {}
    for span in spans:
        if span.kind == "llm" and span.response_id:
            by_response.setdefault(span.response_id, []).append(span)
    for told in by_response.values():
        if len(told) == 1:
            continue
        best = max(told, key=lambda span: (_richness(span), -span.order, span.id))
        best.stop_raw = next((s.raw_label for s in told if s.raw_label), best.stop_raw)
        # The one that ended first came first, and things may have been written about it.
        best.key = min(told, key=lambda span: (span.ended_at or _LONG_AGO, span.id)).id
        for span in told:
            if span is not best:
                span.kind = ""


def _stand_in(trace: Trace) -> None:
    """Where no span tells of a model request, let an agent's span stand for two of them: one that
    asked for all tools, and one that gave the agent's answer.
    """
    spans = trace.in_order
    tools = [span for span in spans if span.kind == "tool"]
    agent = next((span for span in spans if span.kind == AGENT), None)
    if agent is None or not tools or any(span.kind == "llm" for span in spans):
        return
    calls = [
        {
            "id": tool.call_id or tool.id,
            "type": "function",
            "function": {"name": tool.name, "arguments": args_text(value_of(tool.input))},
        }
        for tool in tools
    ]
    asked = Told(f"{agent.id}:tools", agent.id, "llm", order=agent.order)
    asked.started_at, asked.input = agent.started_at, agent.input
    asked.output = {"role": "assistant", "content": None, "tool_calls": calls}
    for tool in tools:
        tool.call_id = tool.call_id or tool.id
        # So that each is a call of the same agent, however deep it stands.
        tool.parent = agent.id
    trace.spans[asked.id] = asked
    if agent.output:
        last = max(tools, key=lambda tool: (tool.ended_at or tool.started_at or _LONG_AGO, tool.id))
        answered = Told(f"{agent.id}:answer", agent.id, "llm", order=tools[-1].order + 1)
        answered.started_at, answered.output = last.ended_at or last.started_at, agent.output
        trace.spans[answered.id] = answered
    trace.notes.append(NO_REQUESTS)


def _richness(span: Told) -> int:
    return 2 * bool(span.output) + bool(span.input)


def without_echoes(spans: list[Span]) -> list[Span]:
    """The spans without those that are a trace of their own and only repeat, with no text, a
    request that another span of the same batch tells.
    """
    bare: dict[int, str] = {}
    for index, span in enumerate(spans):
        response = "" if span.parent_id else text_of(span.attributes, RESPONSE_KEY)
        if response and not _richness(read_span(span)[1]):
            bare[index] = response
    if not bare:
        return spans
    wanted = set(bare.values())
    rich = {
        response
        for span in spans
        if (response := text_of(span.attributes, RESPONSE_KEY)) in wanted
        and _richness(read_span(span)[1])
    }
    return [span for index, span in enumerate(spans) if bare.get(index) not in rich]


@dataclass(slots=True, frozen=True)
class _Context:
    """What holds below a span: the run that it is in, the agent's name, and the home around it."""

    home: str = MAIN
    agent: str = ""


class _Homes:
    """Which run within the trace each span belongs to.

    Below a tool's execution, or below an agent of another name, begins a run of its own; its name
    is that span's id.
    """

    def __init__(self, spans: dict[str, Told]) -> None:
        self._spans = spans
        self._below: dict[str, _Context] = {}
        self._outer: dict[str, str] = {}

    def home_of(self, span: Told) -> str:
        """The home that a span stands in; an agent that begins one stands in its own."""
        below = self._context_below(span)
        if span.kind == AGENT and below.home == span.id:
            return span.id
        return self._above(span).home

    def outer(self, home: str, shown: Mapping[str, str]) -> str:
        """The nearest home around `home` that is shown."""
        seen = set()
        while home and home not in seen:
            seen.add(home)
            home = self._outer.get(home, MAIN)
            if home in shown:
                return home
        return MAIN

    def _above(self, span: Told) -> _Context:
        parent = self._spans.get(span.parent)
        return self._below.get(parent.id, _Context()) if parent is not None else _Context()

    def _context_below(self, span: Told) -> _Context:
        """Goes up to the first span that is known, then down again; a cycle ends at a root."""
        way: list[Told] = []
        at: Told | None = span
        seen: set[str] = set()
        while at is not None and at.id not in self._below and at.id not in seen:
            seen.add(at.id)
            way.append(at)
            at = self._spans.get(at.parent)
        for step in reversed(way):
            self._below[step.id] = self._step(step, self._above(step))
        return self._below[span.id]

    def _step(self, span: Told, above: _Context) -> _Context:
        if span.kind == "tool":
            self._outer[span.id] = above.home
            return _Context(span.id)
        if span.kind == AGENT:
            if above.agent and span.agent and span.agent != above.agent:
                self._outer[span.id] = above.home
                return _Context(span.id, span.agent)
            return replace(above, agent=span.agent or above.agent)
        return above


def _run(trace: Trace, spans: list[Told], run_id: str, parent: str, home: str) -> RunRecord:
    root = trace.root if home == MAIN else trace.spans[home]
    labels: dict[str, str] = {}
    for span in spans:
        labels |= span.labels
    if trace.service:
        labels["service"] = trace.service
    if conversation := next((span.conversation for span in spans if span.conversation), ""):
        labels["conversation"] = conversation
    agents = [span.agent for span in spans if span.agent]
    named = root.name if root is not None and root.kind not in ("llm", "tool") else ""
    # What the conventions call the span of an agent without a name.
    named = named.removeprefix("invoke_agent").strip()
    failed = root is not None and root.kind not in ("llm", "tool") and bool(root.failed)
    notes = list(trace.notes)
    if trace.doubled:
        notes.append(
            f"Span ids with two contents, of which the one that ended last counts: {trace.doubled}."
        )
    found = run_of_observations(
        spans,
        run_id,
        format="otlp",
        agent=(agents[0] if agents else "") or named or trace.service,
        provider=next((s.provider for s in spans if s.kind == "llm" and s.provider), ""),
        code_version=trace.version,
        ticket_id=next((span.ticket for span in spans if span.ticket), ""),
        labels=labels,
        currency="USD" if any(span.cost is not None for span in spans) else "",
        parent_run_id=parent,
        ending=Ending.ERROR if failed else None,
        ending_reason=root.error if failed and root is not None else "",
        notes=tuple(notes),
    )
    if isinstance(found, ImportProblem):
        raise TypeError("spans with a model request make a run")
    return found
