"""What tools did in runs, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.models import ToolUse
from analysis.tool_totals import ToolTotals
from transcripts.masking.types import MaskedRun, derived_text
from transcripts.models import Run

# A run that calls ever new names is broken; what it calls most says so well enough.
MOST_TOOLS = 200


def tool_uses_of(*, run: Run, masked: MaskedRun, totals: Sequence[ToolTotals]) -> Iterator[ToolUse]:
    """What the tools of a run did, as it is kept."""
    for each in sorted(totals, key=lambda each: -each.calls)[:MOST_TOOLS]:
        yield ToolUse(
            run=run,
            tool=derived_text(each.tool, masked),
            calls=each.calls,
            failed=each.failed,
            hidden=each.hidden,
            empty=each.empty,
            unanswered=each.unanswered,
            findings=each.findings,
            steps=list(each.steps),
        )
