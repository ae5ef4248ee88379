"""The analysis in words, on pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from analysis import words
from analysis.models import Finding, Verdict
from analysis.pages import run_costs
from analysis.words import TRIMMED
from transcripts.choices import StopReason
from transcripts.models import Run
from transcripts.templatetags.transcript import shown

register = template.Library()

# "round 3", "First odd round: 3", "rounds 5"; the number is what is linked.
ROUND_MENTION = re.compile(r"(?i)\b(rounds?:? )(\d{1,3}(?:,\d{3})+|\d{1,7})\b")


@register.filter
def detector_title(name: str) -> str:
    return words.detector_title(name)


@register.filter
def stop_words(stop: str) -> str:
    return str(StopReason(stop).label)


@register.filter
def finding_tone(finding: Finding, odd_round: int | None) -> str:
    """The colour class of a finding, by what it says: repeats, what was lost or not kept,
    faults.
    """
    if finding.recovered_at:
        return "warn"
    if finding.odd and finding.round == odd_round:
        return "bad"
    return words.finding_tone(finding.detector, finding.severity)


@register.filter
def told_to(text: str, may_read: bool) -> str:
    """A sentence of the analysis as the reader may have it: without quotations, or whole."""
    return text if may_read else words.without_quotes(text)


@register.simple_tag
def finding_took(finding: Finding, run: Run, verdict: Verdict | None) -> str:
    """What a repetition took: "44 rounds, 351 k tokens, ₹370, 31 min"."""
    return run_costs.finding_took(finding, run, verdict)


@register.filter
def is_trimmed(number: int, findings: Sequence[Finding]) -> bool:
    """Whether a finding says that earlier messages are gone from this round on."""
    return any(finding.detector in TRIMMED for finding in findings)


@register.filter
def same_as(number: int, other: int | None) -> bool:
    return number == other


@register.filter
def next_number(number: int) -> int:
    return number + 1


@register.filter
def left_of(total: int, listed: Sequence[object]) -> int:
    """How many of `total` are not listed."""
    return total - len(listed)


@register.simple_tag
def round_links(sentence: str, address: str, kept: str, odd_round: int | None) -> SafeString:
    """A sentence whose rounds are links; the odd one is marked."""
    parts: list[str] = []
    at = 0
    for match in ROUND_MENTION.finditer(sentence):
        number = int(match[2].replace(",", ""))
        parts.append(shown(sentence[at : match.start(2)]))
        query = f"{kept}&at={number}" if kept else f"at={number}"
        parts.append(
            format_html(
                '<a href="{}?{}#r{}" data-goto="{}"{}>{}</a>',
                address,
                query,
                number,
                number,
                mark_safe(' class="odd-link"') if number == odd_round else "",
                match[2],
            )
        )
        at = match.end()
    parts.append(shown(sentence[at:]))
    # Every part is escaped by shown, or made by format_html.
    return mark_safe("".join(parts))
