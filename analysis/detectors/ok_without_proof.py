from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.episodes import and_again, episodes, places, until
from analysis.detectors.reading.proof import is_bare_success
from analysis.detectors.reading.tools import Effect
from analysis.detectors.reading.words import quoted


@detector(version=1, severity=Severity.LEAD, odd=False, rank=30)
def ok_without_proof(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Success without proof.

    A tool that changes something answers nothing but ok.

    Why it matters: "ok" may mean that the request was received, not that the thing was done.
    Stays silent: where the answer names what changed; for tools that read; for tools that say
    nothing by nature.
    Yields: one finding for each call, at the first. Where a later read shows that nothing
    changed, it can be the first odd round.
    Likely cause: the wrapper returns the status of the request in place of what came of it.
    Fix in code: return what is now so: the new state, an id, a count.
    Source: tools that answer 200 before the work is done.
    """
    disproved = {found.change.key: found.change.seq for found in reading.no_effects}

    def kind(call: CallReading) -> str | None:
        if call.effect != Effect.CHANGES or call.silent or not is_bare_success(call):
            return None
        return "bare success"

    for calls in episodes(reading.calls, kind):
        first = calls[0]
        later = first.key in disproved
        yield Draft(
            at=first.place,
            why=(
                f"{first.name} answered {quoted(first.call.result or '', 60)} and does not say "
                f"what changed{and_again(calls)}"
                f"{'; a later read shows that nothing did' if later else ''}."
            ),
            brief=f"{first.name} says ok and changed nothing" if later else f"{first.name} says ok",
            tool=first.name,
            to_round=until(calls),
            evidence=places(calls),
            values={"times": len(calls), "disproved": later, "error": "ok without proof"},
            severity=Severity.FAULT if later else None,
            odd=True if later else None,
        )
