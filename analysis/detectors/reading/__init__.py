"""A run as detectors read it: the record with what several detectors derive from it, derived
once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.detectors.limits import DEFAULT, Limits, named
from analysis.detectors.reading import emptiness, failures, keys
from analysis.detectors.reading.context import ContextChange, read_context
from analysis.detectors.reading.patterns import encodable
from analysis.detectors.reading.tools import Effect, ToolNature, nature_of
from analysis.detectors.reading.values import is_path, values_of
from analysis.places import Place
from transcripts.record import ENDED_BY_ITSELF, Call, Ending, Placed, Round, RunRecord

if TYPE_CHECKING:
    from analysis.detectors.reading.effects import NoEffect

# Tokens. No window on the price list is so small that less than this could press on it, and
# loading the list takes longer than all else.
LEAST_TOKENS_FOR_PRICE_LIST = 3_000

# What a result can say about its call, from the result alone.
Judged = tuple[str | None, str | None]


@dataclass(slots=True)
class CallReading:
    """One call with what its result says.

    `seq` counts the run's calls from 0. `key` is the call key: tool and canonical arguments.
    `args` is the arguments' JSON value, None where they are no JSON. `empty` names in words what
    kind of nothing came back (None: something did, or no answer). `error` is the failure's text:
    `flagged` when the record's error flag is set, else recognised in the words of the result.
    """

    seq: int
    place: Place
    call: Call
    nature: ToolNature
    key: tuple[str, str]
    args: Any
    empty: str | None
    error: str | None
    flagged: bool
    effect: Effect
    silent: bool
    polled: bool
    _stable: str | None = None
    _values: frozenset[str] | None = None
    _paths: frozenset[str] | None = None

    @property
    def round(self) -> int:
        return self.place.round

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def answered(self) -> bool:
        return self.call.result is not None

    @property
    def failed(self) -> bool:
        return self.error is not None

    @property
    def came_to_nothing(self) -> bool:
        """Empty where an answer was due, failed, or not answered: nothing to build on."""
        return not self.answered or self.failed or (self.empty is not None and not self.silent)

    @property
    def result_key(self) -> str:
        """The result without what differs between two answers that say the same."""
        if self._stable is None:
            self._stable = keys.stable(self.call.result or "")
        return self._stable

    @property
    def values(self) -> frozenset[str]:
        """The plain values in the arguments, as text."""
        if self._values is None:
            self._values = frozenset(values_of(self.args))
        return self._values

    @property
    def paths(self) -> frozenset[str]:
        """Those of the values that are paths."""
        if self._paths is None:
            self._paths = frozenset(filter(is_path, self.values))
        return self._paths

    def same_result(self, other: CallReading) -> bool:
        """Whether both got the same answer, which no answer at all never is."""
        mine, theirs = self.call.result, other.call.result
        if mine is None or theirs is None:
            return False
        if mine == theirs:
            return True
        # Ids and time stamps are short: answers of very different length differ in more than those.
        if abs(len(mine) - len(theirs)) > 200 or keys.differ_plainly(mine, theirs):
            return False
        return self.result_key == other.result_key


class Reading:
    """A run under one set of limits. Everything here is linear in the run's size."""

    def __init__(self, run: RunRecord, limits: Limits = DEFAULT) -> None:
        self.run = run
        self.limits = limits
        self.calls: tuple[CallReading, ...] = tuple(self._read_calls())
        self._call_at = {(each.place.round, each.place.call): each for each in self.calls}

    @property
    def rounds(self) -> tuple[Round, ...]:
        return self.run.rounds

    @property
    def last_round(self) -> int:
        """The number of the last round; 0 for a run without rounds."""
        return self.run.rounds[-1].number if self.run.rounds else 0

    @property
    def live(self) -> bool:
        return self.run.ending == Ending.OPEN

    @property
    def ended_by_itself(self) -> bool:
        return self.run.ending in ENDED_BY_ITSELF

    @cached_property
    def calls_by_round(self) -> dict[int, list[CallReading]]:
        by_round: dict[int, list[CallReading]] = {}
        for each in self.calls:
            by_round.setdefault(each.place.round, []).append(each)
        return by_round

    @cached_property
    def rounds_of_key(self) -> dict[tuple[str, str], list[int]]:
        """The rounds in which each call was asked for, ascending; one round may stand twice."""
        rounds: dict[tuple[str, str], list[int]] = {}
        for each in self.calls:
            rounds.setdefault(each.key, []).append(each.round)
        return rounds

    @cached_property
    def rounds_of_tool(self) -> dict[str, list[int]]:
        """The rounds in which each tool was asked for, as above."""
        rounds: dict[str, list[int]] = {}
        for each in self.calls:
            rounds.setdefault(each.name, []).append(each.round)
        return rounds

    @cached_property
    def context(self) -> tuple[ContextChange, ...]:
        """The rounds at which the model no longer read something that it had read before."""
        return tuple(read_context(self.run))

    @cached_property
    def context_window(self) -> tuple[int, str] | None:
        """The model's window in tokens, and where that is known from; None: not known."""
        if self.run.context_window:
            return self.run.context_window, "the run"
        if self.limits.context_window:
            return self.limits.context_window, "the settings"
        largest = max((round_.tokens_in or 0 for round_ in self.rounds), default=0)
        if largest < LEAST_TOKENS_FOR_PRICE_LIST:
            return None
        from analysis.detectors.reading.prices import window_of

        window = window_of(self.run)
        return (window, "the price list") if window else None

    @cached_property
    def _says_cost(self) -> bool:
        return any(round_.cost is not None for round_ in self.rounds)

    def cost_of_round(self, round_: Round) -> Decimal | None:
        """The round's cost; where no round of the run says one, computed in US dollars."""
        if self._says_cost:
            return round_.cost
        from analysis.detectors.reading.prices import round_cost

        return round_cost(self.run, round_)

    @cached_property
    def no_effects(self) -> tuple[NoEffect, ...]:
        """The changes that had no effect, in order of the first call of each."""
        from analysis.detectors.reading.effects import find_no_effects

        return tuple(find_no_effects(self.calls))

    @cached_property
    def heard(self) -> tuple[int, ...]:
        """The rounds that read a new message of a person, after the first one, ascending."""
        return tuple(
            round_.number
            for round_ in self.rounds[1:]
            if round_.input is not None and any(map(self._is_said, round_.input.added))
        )

    def _is_said(self, placed: Placed) -> bool:
        message = self.run.message_by_key.get(placed.key)
        return (
            message is not None
            and message.role == "user"
            and message.result_of is None
            and bool(message.content.strip())
        )

    def call_at(self, round_: int, call: int | None) -> CallReading | None:
        return self._call_at.get((round_, call))

    def _read_calls(self) -> list[CallReading]:
        found: list[CallReading] = []
        traits: dict[str, tuple[ToolNature, Effect, bool, bool]] = {}
        args_read: dict[str, tuple[Any, str]] = {}
        judged: dict[tuple[str, str], Judged] = {}
        for round_ in self.run.rounds:
            for index, call in enumerate(round_.calls):
                if call.name not in traits:
                    traits[call.name] = self._traits(call.name)
                nature, effect, silent, polled = traits[call.name]
                args = _remember(args_read, call.args, keys.read_args)
                empty = error = None
                if call.result is not None:
                    about = (call.name, call.result)
                    if about not in judged:
                        judged[about] = judge(call.result, nature)
                    empty, error = judged[about]
                flagged = call.is_error is True
                if flagged:
                    error = error or flagged_error(call)
                found.append(
                    CallReading(
                        seq=len(found),
                        place=Place(round_.number, index),
                        call=call,
                        nature=nature,
                        key=(call.name, args[1]),
                        args=args[0],
                        empty=None if flagged else empty,
                        error=error,
                        flagged=flagged,
                        effect=effect,
                        silent=silent,
                        polled=polled,
                    )
                )
        return found

    def _traits(self, name: str) -> tuple[ToolNature, Effect, bool, bool]:
        nature = nature_of(name)
        effect = nature.effect
        if named(name, self.limits.mutating):
            effect = Effect.CHANGES
        elif named(name, self.limits.reading):
            effect = Effect.READS
        learned = self.limits.baseline.silent_tools if self.limits.baseline.known else frozenset()
        silent = nature.silent or named(name, self.limits.silent) or name in learned
        return nature, effect, silent, named(name, self.limits.polled)


def _remember(
    known: dict[str, tuple[Any, str]], text: str, read: Callable[[str], tuple[Any, str]]
) -> tuple[Any, str]:
    """Arguments repeat a lot in the runs that matter: each text is read once."""
    if text not in known:
        known[text] = read(text)
    return known[text]


def judge(result: str, nature: ToolNature) -> Judged:
    """What kind of nothing the result is, and the failure it tells of; at most one of the two."""
    text = encodable(result)
    value: Any = None
    is_json = False
    if text[:1] in _JSON_STARTS or text[:40].lstrip()[:1] in _JSON_STARTS:
        try:
            value = keys.parse_json(text)
            is_json = True
        except ValueError:
            pass
    empty = emptiness.emptiness_of(text, value, is_json)
    if empty is not None:
        # `{"error": "", "content": []}` is empty; `{"error": "no such user", "data": null}` is a
        # failure.
        error = failures.hidden_failure(text, value, is_json, nature) if is_json else None
        return (None, error) if error else (empty, None)
    return None, failures.hidden_failure(text, value, is_json, nature)


_JSON_STARTS = frozenset('{["')


def flagged_error(call: Call) -> str:
    """The text of a result that is marked as an error."""
    from analysis.detectors.reading.words import excerpt

    return excerpt(call.result or "") or "no error text"
