from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import places
from analysis.detectors.reading.keys import canonical_json
from analysis.detectors.reading.patterns import Pattern, encodable
from analysis.detectors.reading.words import count, word_set

# Calls. The first ten pages of anything are read by people too.
MIN_PAGES = 10

PAGE_ARGS = word_set(
    """
    page page_number pagenumber page_no pageno pageindex page_index p offset start skip from
    startat start_at start_index startindex cursor next_cursor after page_token pagetoken
    next_page_token nextpagetoken continuation continuation_token line_start start_line
    view_start scroll position marker since_id
    """
)


@dataclass(slots=True)
class _Pages:
    """Calls of one tool that differ in their page argument alone."""

    argument: str
    seen: set[str] = field(default_factory=set)
    last: Any = None
    calls: list[CallReading] = field(default_factory=list)


@detector(version=1, severity=Severity.FAULT, odd=False, rank=66)
def unbounded_paging(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Paging without end.

    A page, offset or cursor argument moves on for 10 calls or more.

    Why it matters: reading everything page by page fills the context and rarely finds what a
    filter would.
    Stays silent: under 10 pages; when another argument changes too; when a page was empty or the
    last one, which is an end.
    Yields: one finding for each stretch of pages, at the tenth.
    Likely cause: the tool has no filter, or does not say how many pages there are.
    Fix in code: give the tool a query and a total, cap the pages that one run may read, and say
    what to do instead.
    Source: runs that read a log to its end, page by page.
    """
    stretches: dict[tuple[str, str], _Pages] = {}
    for call in reading.calls:
        found = _page_of(call)
        if found is None:
            continue
        argument, page, rest = found
        about = (call.name, f"{argument} {rest}")
        pages = stretches.setdefault(about, _Pages(argument))
        key = str(page)
        if key in pages.seen or not _moves_on(pages.last, page):
            yield from _claim(pages)
            pages = stretches[about] = _Pages(argument)
        pages.seen.add(key)
        pages.last = page
        pages.calls.append(call)
        if call.empty is not None and not call.silent:
            yield from _claim(pages)
            stretches[about] = _Pages(argument)
    for pages in stretches.values():
        yield from _claim(pages)


def _page_of(call: CallReading) -> tuple[str, Any, str] | None:
    """The page argument, its value, and all other arguments as a key."""
    if not isinstance(call.args, dict):
        return None
    for name, value in call.args.items():
        if name.lower() in PAGE_ARGS and isinstance(value, int | float | str) and value != "":
            rest = {other: each for other, each in call.args.items() if other != name}
            # A span of lines moves both of its ends.
            rest = {other: each for other, each in rest.items() if other.lower() not in _ENDS}
            return name, value, canonical_json(rest)
    return None


_ENDS = word_set(
    """
    end to line_end end_line view_end until
    """
)


# How an answer says that there are no more pages.
_END = Pattern(
    r"(?i)[\"']?(?:has_?more|has_?next|hasnextpage|more)[\"']?\s*[:=]\s*(?:false|no\b|0)|"
    r"[\"']?(?:next|next_?(?:page|cursor|token|page_?token|offset))[\"']?\s*[:=]\s*(?:null"
    r"|none|\"\"|'')|"
    r"\b(?:last page|end of (?:the )?(?:list|results|file|log|records)|no (?:more"
    r"|further) (?:pages?|results?|"
    r"rows|records|entries|items)|<eof>|\(end\))"
)


def _is_the_end(call: CallReading) -> bool:
    result = call.call.result or ""
    return (
        call.came_to_nothing
        or _END.search(encodable(f"{result[:1000]} {result[-1000:]}")) is not None
    )


def _moves_on(last: Any, page: Any) -> bool:
    if isinstance(last, int | float) and isinstance(page, int | float):
        return page > last
    return True


def _claim(pages: _Pages) -> Iterator[Draft]:
    if len(pages.calls) < MIN_PAGES or _is_the_end(pages.calls[-1]):
        return
    tenth, last = pages.calls[MIN_PAGES - 1], pages.calls[-1]
    yield Draft(
        at=tenth.place,
        to_round=last.round if last.round != tenth.round else None,
        why=(
            f"{tenth.name} was called for {count(len(pages.calls), 'page')} one after the other "
            f"({pages.argument} moves on, all else is the same) and no end came."
        ),
        brief=f"{tenth.name} reads page after page",
        tool=tenth.name,
        evidence=places(pages.calls),
        values={
            "pages": len(pages.calls),
            "argument": pages.argument,
            "error": "paging without end",
        },
    )
