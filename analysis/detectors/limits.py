"""Thresholds that a project, an agent or a tool may set, and what was learned from its finished
runs.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any

# Learned values are used from this many finished runs on; under it they are chance.
MIN_RUNS_LEARNED = 20


class LimitsError(ValueError):
    """A limits file cannot be used; the text says where and why."""


class RepeatMode(StrEnum):
    """What repeats of one call are counted over: in a row, in the last calls, or in the whole
    run.
    """

    CONSECUTIVE = "consecutive"
    WINDOW = "window"
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is normal for the agent, from `runs` finished runs. Not used under MIN_RUNS_LEARNED
    runs.

    `rounds_p95` is a count, `seconds_p95` wall clock, `cost_median` in the run's currency,
    `tool_ms_p95` milliseconds by tool name, `silent_tools` those that answer nothing in nearly
    all of their calls.
    """

    runs: int = 0
    rounds_p95: float | None = None
    seconds_p95: float | None = None
    cost_median: Decimal | None = None
    tool_ms_p95: Mapping[str, float] = field(default_factory=dict)
    silent_tools: frozenset[str] = frozenset()

    @property
    def known(self) -> bool:
        return self.runs >= MIN_RUNS_LEARNED


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings of one agent of one project; None: not set.

    `rounds` is a count, `seconds` wall clock, `cost` in the run's currency, `context_window`
    tokens. `repeat_limit` is how often one call may be made with one answer before the next is a
    finding, `repeat_limits` the same by tool, `repeat_window` calls. Tool names may end in `*`.
    `polled` tools may be asked over and over, `silent` ones answer nothing by nature, `mutating`
    ones change the world and `reading` ones do not, whatever their names say. `idle_seconds`: a
    live run that was quiet for longer counts as over.
    """

    rounds: int | None = None
    seconds: float | None = None
    cost: Decimal | None = None
    repeat_limit: int = 2
    repeat_limits: Mapping[str, int] = field(default_factory=dict)
    repeat_mode: RepeatMode = RepeatMode.TOTAL
    repeat_window: int = 10
    polled: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    mutating: frozenset[str] = frozenset()
    reading: frozenset[str] = frozenset()
    context_window: int | None = None
    idle_seconds: float | None = None
    baseline: Baseline = Baseline()

    def repeats_allowed(self, tool: str) -> int:
        """How often `tool` may be called with the same arguments and the same answer."""
        if tool in self.repeat_limits:
            return self.repeat_limits[tool]
        for name, allowed in self.repeat_limits.items():
            if name.endswith("*") and tool.startswith(name[:-1]):
                return allowed
        return self.repeat_limit


DEFAULT = Limits()


def named(tool: str, names: frozenset[str]) -> bool:
    """Whether `tool` is one of `names`, which may end in `*`."""
    if not names:
        return False
    return tool in names or any(name.endswith("*") and tool.startswith(name[:-1]) for name in names)


def load_limits(path: Path) -> Limits:
    """Read a limits file, TOML or JSON; its keys are the fields of `Limits`.

    Raises LimitsError with the field's place when a value cannot be used, and OSError.
    """
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8")
        content = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise LimitsError(f"{path.name}: not {kind}: {error}") from error
    try:
        return limits_from(content)
    except LimitsError as error:
        raise LimitsError(f"{path.name}: {error}") from error


def limits_from(content: Any) -> Limits:
    """Make `Limits` of plain JSON values. Raises LimitsError that names the field."""
    if not isinstance(content, dict):
        raise LimitsError("must be an object with limits by name")
    known = {each.name for each in fields(Limits)}
    made: dict[str, Any] = {}
    for name, value in content.items():
        if name not in known:
            raise LimitsError(f"{name}: no such limit; there are {', '.join(sorted(known))}")
        if value is not None:
            made[name] = _read(name, value)
    return Limits(**made)


def limits_content(limits: Limits) -> dict[str, Any]:
    """`limits` as plain JSON values, as a limits file holds them: what `limits_from` reads. Without
    what is not set, or as by default.
    """
    return _content(limits, DEFAULT)


def _content(values: Limits | Baseline, default: Limits | Baseline) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for each in fields(values):
        value = getattr(values, each.name)
        if value == getattr(default, each.name):
            continue
        if isinstance(value, Baseline):
            value = _content(value, Baseline())
        elif isinstance(value, frozenset):
            value = sorted(value)
        elif isinstance(value, Decimal):
            value = str(value)
        elif isinstance(value, Mapping):
            value = dict(sorted(value.items()))
        made[each.name] = value
    return made


def _read(name: str, value: Any) -> Any:
    if name in ("rounds", "repeat_limit", "repeat_window", "context_window"):
        return _whole(name, value)
    if name in ("seconds", "idle_seconds"):
        return _number(name, value)
    if name == "cost":
        return _amount(name, value)
    if name == "repeat_mode":
        try:
            return RepeatMode(value)
        except ValueError:
            raise LimitsError(f"{name}: must be one of {', '.join(RepeatMode)}") from None
    if name == "repeat_limits":
        return {tool: _whole(f"{name}.{tool}", each) for tool, each in _object(name, value).items()}
    if name == "baseline":
        return _baseline(_object(name, value))
    return _names(name, value)


def _baseline(value: dict[str, Any]) -> Baseline:
    known = {each.name for each in fields(Baseline)}
    for name in value:
        if name not in known:
            raise LimitsError(
                f"baseline.{name}: no such value; there are {', '.join(sorted(known))}"
            )
    made: dict[str, Any] = {}
    for name, each in value.items():
        place = f"baseline.{name}"
        if each is None:
            continue
        if name == "runs":
            made[name] = _whole(place, each, least=0)
        elif name == "cost_median":
            made[name] = _amount(place, each)
        elif name == "silent_tools":
            made[name] = _names(place, each)
        elif name == "tool_ms_p95":
            made[name] = {
                tool: _number(f"{place}.{tool}", ms) for tool, ms in _object(place, each).items()
            }
        else:
            made[name] = _number(place, each)
    return Baseline(**made)


def _whole(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise LimitsError(f"{name}: must be a whole number of at least {least}")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise LimitsError(f"{name}: must be a number above 0")
    return float(value)


def _amount(name: str, value: Any) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal(-1)
    if isinstance(value, bool) or not amount.is_finite() or amount <= 0:
        raise LimitsError(f"{name}: must be an amount above 0")
    return amount


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LimitsError(f"{name}: must be an object")
    return value


def _names(name: str, value: Any) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise LimitsError(f"{name}: must be a list of tool names")
    return frozenset(value)
