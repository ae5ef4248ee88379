"""Charts as SVG paths, drawn on the server. Every chart has its figures in a table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transcripts.templatetags.measures import compact

WIDTH, HEIGHT = 720.0, 120.0


@dataclass(frozen=True)
class Series:
    """One kind of figure in a chart: what it is called, its colour class and its path."""

    name: str
    tone: str
    path: str


@dataclass(frozen=True)
class Chart:
    """A chart of bars, stacked where there are several series. `top` is the highest bar, in words;
    `words` say for who cannot see it what it shows.
    """

    title: str
    series: tuple[Series, ...]
    top: str
    words: str
    first: str
    last: str
    width: float = WIDTH
    height: float = HEIGHT


def bars(
    *,
    title: str,
    names: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, Sequence[float]]],
    unit: str,
) -> Chart:
    """Stacked bars. `names` are (name, colour class) of the series, `columns` the label of each
    column and its figures, one a series.
    """
    most = max((sum(figures) for _, figures in columns), default=0.0)
    step = WIDTH / max(len(columns), 1)
    bar = max(step - 2.0, step * 0.6)
    paths: list[list[str]] = [[] for _ in names]
    for at, (_, figures) in enumerate(columns):
        bottom = HEIGHT
        for series, figure in enumerate(figures):
            if figure <= 0 or not most:
                continue
            # A bar of one among thousands is still seen.
            height = max(figure / most * (HEIGHT - 4), 1.0)
            bottom -= height
            outline = f"h{bar:.1f}v{height:.1f}h-{bar:.1f}z"
            paths[series].append(f"M{at * step:.1f} {bottom:.1f}{outline}")
    total = sum(sum(figures) for _, figures in columns)
    return Chart(
        title=title,
        series=tuple(
            Series(name, tone, "".join(path))
            for (name, tone), path in zip(names, paths, strict=True)
            if path
        ),
        top=_counted(_short(most), unit),
        words=f"{title}: {_counted(f'{total:,.0f}', unit)} in all, {most:,.0f} at most on a day",
        first=columns[0][0] if columns else "",
        last=columns[-1][0] if columns else "",
    )


def _short(figure: float) -> str:
    """7.4 M, 5,166, or 0.42: what stands beside a title."""
    if figure >= 100_000:
        return compact(round(figure))
    return f"{figure:,.2f}".removesuffix(".00") if figure < 10 else f"{figure:,.0f}"


def _counted(figure: str, unit: str) -> str:
    """`1 run`, `2 runs`; a currency is always the same."""
    return f"{figure} {unit.removesuffix('s') if figure == '1' else unit}"
