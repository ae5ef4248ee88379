"""What deliveries say of a run as a whole: kept on the run, what is said later over what was said
before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from transcripts.masking.types import MaskedRun, MaskedText
from transcripts.models import Run
from transcripts.record import Ending, RunLimits, RunRecord, Tool

# Said by a label of this name, with any value but these.
RESTRICTED_LABEL = "restricted"
NOT_RESTRICTED = frozenset({"", "0", "false", "no"})

TEXTS = (
    "ticket_id",
    "title",
    "agent",
    "provider",
    "model",
    "prompt_version",
    "code_version",
    "ending_reason",
    "currency",
    "parent_run_id",
)
VALUES = ("format", "started_at", "ended_at", "context_window")


def header_only(record: RunRecord) -> RunRecord:
    """The record without messages and rounds."""
    return replace(record, messages=(), rounds=())


def keep_header(*, run: Run, masked: MaskedRun, plain: RunRecord) -> None:
    """Put on the run what a masked header says; empty fields leave what is there. The caller saves
    it.

    `plain` is the same header before masking, for what is decided by it and not kept.
    """
    said = masked.record
    for name in (*TEXTS, *VALUES):
        value = getattr(said, name)
        if value not in ("", None):
            setattr(run, name, value)
    run.run_id = said.run_id
    run.title_said = run.title_said or bool(said.title)
    if said.rounds_expected is not None:
        run.rounds_expected = max(run.rounds_expected or 0, said.rounds_expected)
    run.limits = {**run.limits, **limits_json(said.limits)}
    run.labels = _labels(run.labels, said.labels.items())
    run.tools = _tools(run.tools, said.tools)
    run.notes = sorted({*run.notes, *said.notes})
    run.restricted = run.restricted or is_restricted(plain)
    if said.ending is not None and not (run.ending_said and said.ending == Ending.OPEN):
        run.ending = said.ending.value
        run.ending_said = said.ending != Ending.OPEN


def is_restricted(record: RunRecord) -> bool:
    """Whether a label says that only named readers may read the run. Once said, it is
    not unsaid.
    """
    return labels_restrict(record.labels)


def labels_restrict(labels: Mapping[str, str]) -> bool:
    """The same of labels alone."""
    return any(
        name.strip().casefold() == RESTRICTED_LABEL
        and value.strip().casefold() not in NOT_RESTRICTED
        for name, value in labels.items()
    )


def limits_json(limits: RunLimits) -> dict[str, Any]:
    """The limits that are said, as they are kept; cost as text."""
    said = {
        "rounds": limits.rounds,
        "seconds": limits.seconds,
        "cost": None if limits.cost is None else str(limits.cost),
    }
    return {name: value for name, value in said.items() if value is not None}


def _labels(
    kept: Iterable[tuple[str, str]], said: Iterable[tuple[str, str]]
) -> list[list[MaskedText | str]]:
    merged = dict((*kept, *said))
    return [[name, merged[name]] for name in sorted(merged)]


def _tools(kept: list[dict[str, str]], said: tuple[Tool, ...]) -> list[dict[str, str]]:
    """Tools as one delivery listed them; those of several deliveries by name."""
    listed = [
        {"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in said
    ]
    come = {tool["name"]: tool for tool in listed}
    if not come or {tool["name"] for tool in kept} <= come.keys():
        return listed or kept
    merged = {**{tool["name"]: tool for tool in kept}, **come}
    return [merged[name] for name in sorted(merged)]
