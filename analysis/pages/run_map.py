"""The map of a run: where its rounds stand on a line of fixed size, as numbers for an SVG. Pure.

Across, one unit is one cell and the drawing is stretched to the page's width; so any length of run
takes the same few elements. A short run leaves room at the right, so that a round does not look
like a stretch of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from transcripts.selectors.pages import Bin

MAX_STRETCHES = 40
# Cells that the width is divided into at least.
MIN_ACROSS = 30
# Of a cell's width; the rest is the gap to the next.
CELL_WIDTH = 0.86
# Percent of the width that a number, and each character of a label, takes on a page of 1,000
# pixels.
NUMBER_ROOM = 3.4
CHARACTER_ROOM = 0.62
# The tone of a cell none of whose rounds arrived.
MISSING = "missing"
TONE_ORDER = ("odd", "breach", "fault", "recovered", "lead")
ALWAYS_NAMED = ("odd", "recovered")


@dataclass(frozen=True)
class Mark:
    """A round that the map names. `tone` is one of `TONE_ORDER`; `odd` and `recovered` are the
    first odd round, where what was odd stands and where the run made up for it. `colour` is the
    class of its name, as everywhere else.
    """

    round: int
    tone: str
    label: str
    through: bool = False
    colour: str = "warn"


@dataclass(frozen=True)
class PlacedMark:
    """A mark at `x` percent from the left. `label` is empty where the next mark leaves no room for
    it.
    """

    mark: Mark
    x: float
    label: str
    at_end: bool


@dataclass(frozen=True)
class RunMap:
    """What the template draws. Paths are in cells across and 0 to 10 down; x of rectangles in
    percent. `across` cells fill the width. `tones` are the marks that colour a cell.
    """

    across: int
    per_cell: int
    last: int
    stop_paths: tuple[tuple[str, str], ...]
    mark_paths: tuple[tuple[str, str], ...]
    hatched: tuple[tuple[float, float], ...]
    marks: tuple[PlacedMark, ...]
    tokens_path: str
    window_y: float | None
    tokens_top: int | None
    stops: tuple[str, ...]
    tones: frozenset[str]
    worst: tuple[int, ...]


def run_map(
    *,
    bins: Sequence[Bin],
    top: int | None,
    last: int,
    per_cell: int,
    marks: Sequence[Mark],
    repeats: Iterable[tuple[int, int]],
    context_window: int | None,
) -> RunMap:
    """The map of a run whose last round is `last`, with `per_cell` rounds a cell."""
    cells = max(1, -(-last // per_cell))
    across = max(cells, MIN_ACROSS)
    tones = _mark_tones(marks, per_cell)
    stops = {(bin_.first - 1) // per_cell: bin_.stop for bin_ in bins}
    ceiling = max(top or 0, context_window or 0)
    return RunMap(
        across=across,
        per_cell=per_cell,
        last=last,
        stop_paths=_paths({cell: stops.get(cell, MISSING) for cell in range(cells)}),
        mark_paths=_paths(tones),
        hatched=_hatched(repeats, last, per_cell, across),
        marks=_placed(marks, per_cell, across),
        tokens_path=_tokens_path(bins, per_cell, ceiling),
        window_y=None if not (top and context_window) else 1.0,
        tokens_top=top,
        stops=tuple(dict.fromkeys(bin_.stop for bin_ in bins)),
        tones=frozenset(tones.values())
        | ({MISSING} if any(cell not in stops for cell in range(cells)) else set()),
        worst=_worst(bins, marks, per_cell, cells),
    )


def _paths(tones: Mapping[int, str]) -> tuple[tuple[str, str], ...]:
    """One path a tone; what went on as usual is drawn lower than what did not."""
    paths: dict[str, list[str]] = {}
    for cell, tone in tones.items():
        y, height = (1.5, 7) if tone in ("wants_tool", "finished", MISSING) else (0, 10)
        paths.setdefault(tone, []).append(
            f"M{cell + 0.07:g} {y}h{CELL_WIDTH}v{height}h-{CELL_WIDTH}z"
        )
    return tuple((tone, "".join(parts)) for tone, parts in sorted(paths.items()))


def _mark_tones(marks: Sequence[Mark], per_cell: int) -> dict[int, str]:
    """The worst mark of each cell. A lead is worth a look, not a colour over what the round did."""
    tones: dict[int, str] = {}
    for mark in marks:
        cell = (mark.round - 1) // per_cell
        known = tones.get(cell, "lead")
        if TONE_ORDER.index(mark.tone) < TONE_ORDER.index(known):
            tones[cell] = mark.tone
    return tones


def _worst(
    bins: Sequence[Bin], marks: Sequence[Mark], per_cell: int, cells: int
) -> tuple[int, ...]:
    """For each cell the round that a click goes to: its worst mark, else its first round."""
    worst = [cell * per_cell + 1 for cell in range(cells)]
    for mark in sorted(marks, key=lambda mark: (-TONE_ORDER.index(mark.tone), -mark.round)):
        cell = (mark.round - 1) // per_cell
        if cell < cells:
            worst[cell] = mark.round
    return tuple(worst)


def _hatched(
    repeats: Iterable[tuple[int, int]], last: int, per_cell: int, across: int
) -> tuple[tuple[float, float], ...]:
    """Stretches of cells that repeat, joined where they touch, as left and width in percent."""
    stretches: list[list[int]] = []
    for first, until in sorted(repeats):
        left = (first - 1) // per_cell
        right = (min(until, last) - 1) // per_cell + 1
        if stretches and left <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], right)
        else:
            stretches.append([left, right])
    return tuple(
        (round(100 * left / across, 3), round(100 * (right - left) / across, 3))
        for left, right in stretches[:MAX_STRETCHES]
    )


def _placed(marks: Sequence[Mark], per_cell: int, across: int) -> tuple[PlacedMark, ...]:
    """Labelled marks from left to right: one a detector or so, those that would collide left
    out.
    """
    placed: list[PlacedMark] = []
    free_from = -1.0
    named = sorted((mark for mark in marks if mark.label), key=lambda mark: mark.round)
    centres = [100 * ((mark.round - 1) // per_cell + 0.5) / across for mark in named]
    for at, (mark, x) in enumerate(zip(named, centres, strict=True)):
        if x < free_from and mark.tone not in ALWAYS_NAMED:
            continue
        following = next((c for c in centres[at + 1 :] if c > x + NUMBER_ROOM), 200.0)
        wanted = NUMBER_ROOM + CHARACTER_ROOM * len(mark.label)
        at_end = x > 100 - wanted
        room = (x - free_from if at_end else following - x) >= wanted
        label = mark.label if room else ""
        free_from = x + (wanted if label and not at_end else NUMBER_ROOM)
        placed.append(PlacedMark(mark, round(x, 3), label, at_end))
    return tuple(placed)


def _tokens_path(bins: Sequence[Bin], per_cell: int, ceiling: int) -> str:
    """Input size as a line: 1 at the context window (or the largest input), 10 at none."""
    points = [
        (f"{(bin_.first - 1) // per_cell + 0.5:g} {10 - 9 * bin_.tokens / ceiling:.2f}")
        for bin_ in bins
        if bin_.tokens is not None and ceiling
    ]
    return "M" + "L".join(points) if len(points) > 1 else ""
