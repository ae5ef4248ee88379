"""The run page put together: which rounds it holds, in which state, with which findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from analysis.cells import MAX_CELLS, bins_of, last_round
from analysis.choices import Severity
from analysis.models import Finding, Verdict
from analysis.pages.fit import LINE_ELEMENTS, PAGE_ELEMENTS, Line, card_elements, kept
from analysis.pages.folds import Fold, folds_of
from analysis.pages.layout import Item, Kind, Layout, Sizes, Span
from analysis.pages.run_findings import RunFindings
from analysis.pages.run_map import Mark, RunMap, run_map
from analysis.selectors.annotations import RunAnnotations, run_annotations
from analysis.strip import REPETITIONS, repeat_span
from analysis.templatetags.analysis_words import finding_tone
from analysis.words import TRIMMED, detector_title
from transcripts.cards import CallCard, RoundCard, call_card, round_cards
from transcripts.choices import Ending
from transcripts.models import Run
from transcripts.selectors.pages import bin_size, call_changes, round_bins, round_window

# Lines that one click or one scroll brings.
STEP = 12
SAYS_AGAIN = REPETITIONS | {"repeated_reply", "retried_failure"}
# Findings that the list beside the rounds names; the others are counted, and opened by a link.
LISTED_FINDINGS = 20
# Of one round; a page of all of them is a link away.
FINDINGS_OF_ROUND = 4
ANNOTATIONS_OF_ROUND = 3
GAP_LINKS = 3
# A printed report is read, not scrolled: it may be longer than the page.
REPORTED = 12
REPORT_ELEMENTS = 1_200


@dataclass
class PageItem:
    """One line or one stretch of rounds on the page, with all that its template says."""

    item: Item
    cards: list[RoundCard] = field(default_factory=list)
    findings: int = 0
    links: list[Finding] = field(default_factory=list)
    words: str = ""

    @property
    def kind(self) -> str:
        return self.item.kind.value

    @property
    def first(self) -> int:
        return self.item.first

    @property
    def last(self) -> int:
        return self.item.last

    @property
    def count(self) -> int:
        return self.item.count


class RunView:
    """One run as one person's request sees it. Queries are made when a part is asked for, once
    each.
    """

    def __init__(self, run: Run, *, may_read: bool, unfolded: bool = False) -> None:
        self.run = run
        self.may_read = may_read
        self.unfolded = unfolded
        self.verdict: Verdict | None = getattr(run, "verdict", None)

    @cached_property
    def last(self) -> int:
        """The number of the last round, counting those that should have come."""
        return last_round(last=self.run.last_round, completeness=self.run.completeness)

    @cached_property
    def findings(self) -> RunFindings:
        return RunFindings(self.run)

    @cached_property
    def said(self) -> RunAnnotations:
        """What people said; nothing where the reader may not read the transcript."""
        some = self.may_read and getattr(self.run, "has_annotations", True)
        return run_annotations(run=self.run) if some else RunAnnotations([])

    @cached_property
    def folds(self) -> list[Fold]:
        return folds_of(self.findings.rows)

    @property
    def odd_round(self) -> int | None:
        return self.verdict.odd_round if self.verdict else None

    def anchor(self, asked: str) -> int:
        """The round that is asked for, else the first odd one, else the first."""
        if asked.isdecimal() and len(asked) < 10:
            return min(max(int(asked), 1), max(self.last, 1))
        return self.odd_round or 1

    def layout(self, *marks: int) -> Layout:
        standing_out = {
            finding.round for finding in self.findings.first_of_each() if _stands_out(finding)
        }
        # How the run ended is in its last round, whatever that repeats.
        standing_out |= {number for number in (self.odd_round, self.last) if number}
        missing: list[Span] = [
            (int(first), int(last)) for first, last in self.run.completeness.get("gaps", [])
        ]
        return Layout(
            last=self.last,
            folds=() if self.unfolded else self.folds,
            marks=standing_out | set(marks),
            missing=missing,
        )

    def around(self, anchor: int) -> list[PageItem]:
        """The rounds of a page that is anchored at round `anchor`."""
        layout = self.layout(anchor)
        whole = (1, self.last)
        return self._filled(layout, whole, layout.around(anchor, Sizes()), anchor, PAGE_ELEMENTS)

    def report(self) -> list[PageItem]:
        """The rounds that a printed report shows: of each detector the first, with neighbours."""
        named = [finding.round for finding in self.findings.first_of_each()]
        numbers = {min(max(number, 1), self.last) for number in [*named, self.odd_round or 1]}
        layout = self.layout(*numbers)
        items = layout.near(sorted(numbers)[:REPORTED])
        return self._filled(layout, (1, self.last), items, self.odd_round or 1, REPORT_ELEMENTS)

    def part(self, first: int, last: int, take: str, room: int) -> list[PageItem]:
        """What comes in the place of a line that stands for rounds `first` to `last`.

        `take` is `first` or `last` (so many lines from that end) or `none` (the line again, as one
        gap). What it brings is of about `room` elements at most, and of one line at least.
        """
        layout = self.layout()
        loaded: list[Span] = []
        if take == "first":
            loaded = [(first, min(layout.forward(first, STEP), last))]
        elif take == "last":
            loaded = [(max(layout.backward(last, STEP), first), last)]
        items = layout.part(first, last, loaded=loaded)
        anchor = last if take == "last" else first
        return self._filled(layout, (first, last), items, anchor, room)

    def _filled(
        self, layout: Layout, whole: Span, items: Sequence[Item], anchor: int, room: int
    ) -> list[PageItem]:
        """The items with what they say, as many of them as there is room for."""
        cards = self._cards([(i.first, i.last) for i in items if i.kind is Kind.ROUNDS])
        lines = list(_lines(items, cards))
        fitting = kept(lines, anchor=anchor, room=room)
        if sum(last - first + 1 for first, last in fitting) < sum(
            line.last - line.first + 1 for line in lines
        ):
            items = layout.exactly(*whole, loaded=fitting)
        self.findings.count_in([(i.first, i.last) for i in items if i.kind is not Kind.ROUNDS])
        return [self._page_item(item, cards) for item in items]

    def _cards(self, spans: Sequence[Span]) -> list[RoundCard]:
        self.findings.fetch_for(spans)
        live = self.last if self.run.ending == Ending.OPEN else None
        cards = round_cards(round_window(run=self.run, spans=spans), live_last=live)
        for card in cards:
            findings = self._told(self.findings.of_round(card.number))
            card.findings.extend(findings[:FINDINGS_OF_ROUND])
            card.findings_left = len(findings) - len(card.findings)
            said = self.said.by_round.get(card.number, ())
            card.annotations.extend(said[-ANNOTATIONS_OF_ROUND:])
            card.annotations_left = len(said) - len(card.annotations)
        return cards

    def _told(self, findings: list[Finding]) -> list[Finding]:
        """The odd round's own finding first."""
        odd = self.verdict.odd_detector if self.verdict else ""
        return sorted(findings, key=lambda finding: finding.detector != odd)

    def _page_item(self, item: Item, cards: Sequence[RoundCard]) -> PageItem:
        made = PageItem(item)
        if item.kind is Kind.ROUNDS:
            made.cards = [card for card in cards if item.first <= card.number <= item.last]
            return made
        made.findings = self.findings.count(item.first, item.last)
        made.links = self.findings.first_in(item.first, item.last, GAP_LINKS)
        if item.fold:
            made.words = item.fold.words(item.first, item.last)
        return made

    @cached_property
    def map(self) -> RunMap:
        per_cell = bin_size(last=self.last, bins=MAX_CELLS)
        found = bins_of(self.verdict.cells, last=self.last) if self.verdict else None
        if found is None:
            # Rounds came since, or it was read before cells were kept.
            found = round_bins(run=self.run, last=self.last, bins=MAX_CELLS)
        return run_map(
            bins=found.bins,
            top=found.top,
            last=self.last,
            per_cell=per_cell,
            marks=self._marks(),
            repeats=[
                span for finding in self.findings.rows if (span := repeat_span(finding)) is not None
            ],
            context_window=self.context_window,
        )

    @property
    def odd_tone(self) -> str:
        """The map's tone of the first odd round."""
        return "recovered" if self.verdict and self.verdict.recovered_at else "odd"

    def _marks(self) -> list[Mark]:
        named = {finding.pk for finding in self.findings.first_of_each()}
        by_round: dict[int, Mark] = {}
        for finding in self.findings.rows:
            is_odd = finding.round == self.odd_round
            tone = self.odd_tone if is_odd else _mark_tone(finding)
            label = detector_title(finding.detector).lower() if finding.pk in named else ""
            known = by_round.get(finding.round)
            through = finding.detector in TRIMMED or bool(known and known.through)
            if is_odd and self.verdict:
                label = detector_title(self.verdict.odd_detector).lower()
            if known is None or (label and not known.label) or finding.detector == "ticket_lost":
                colour = finding_tone(finding, self.odd_round)
                by_round[finding.round] = Mark(finding.round, tone, label, through, colour)
        return list(by_round.values())

    @property
    def context_window(self) -> int | None:
        """The model's window in tokens, wherever it is known from."""
        known = self.verdict.context_window if self.verdict else None
        return known or self.run.context_window

    def changes(self, first: int, last: int, limit: int) -> list[tuple[int, CallCard]]:
        """Calls of a fold whose result is not what the same call gave before, with their rounds."""
        rows = call_changes(run=self.run, first=first, last=last, limit=limit)
        return [(row["round_number"], call_card(row)) for row in rows]


def _lines(items: Sequence[Item], cards: Sequence[RoundCard]) -> Iterator[Line]:
    """The lines of the items, each with about how many elements it takes."""
    for item in items:
        if item.kind is Kind.GAP:
            continue
        if item.kind is not Kind.ROUNDS:
            yield Line(item.first, item.last, LINE_ELEMENTS)
            continue
        here = [card for card in cards if item.first <= card.number <= item.last]
        starts = [item.first, *(card.number for card in here[1:]), item.last + 1]
        for card, first, following in zip(here, starts, starts[1:], strict=False):
            yield Line(first, following - 1, card_elements(card))


def _stands_out(finding: Finding) -> bool:
    """Whether its round is shown where the rounds about it are folded: what went wrong, and the
    call
    that made the repeats too many."""
    if finding.detector in SAYS_AGAIN:
        return finding.detector == "repeated_call"
    return finding.severity != Severity.LEAD


def _mark_tone(finding: Finding) -> str:
    """What a mark looks like: what is lost has its own colour; repeats are hatched, and what is
    said of the run as a whole is named, not coloured.
    """
    if finding.detector == "ticket_lost":
        return "breach"
    return finding.severity if finding.odd else "lead"
