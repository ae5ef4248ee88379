from __future__ import annotations

from collections.abc import Iterator

from analysis.choices import Severity
from analysis.detectors.base import Draft, detector
from analysis.detectors.limits import Limits
from analysis.detectors.reading import CallReading, Reading
from analysis.detectors.reading.words import duration

# A call this many times as slow as nearly all calls of the tool.
TIMES_NORMAL = 3
# Milliseconds. Time-outs are set to round numbers; an empty answer that comes a little after one
# is no answer.
TIMEOUTS = (10_000, 30_000, 60_000)
AFTER_TIMEOUT = 1.05


@detector(version=1, severity=Severity.LEAD, odd=False, rank=34)
def slow_tool(reading: Reading, limits: Limits) -> Iterator[Draft]:
    """Slow tool.

    A call took far longer than this tool's calls do, or came back empty after 10, 30 or 60 seconds.

    Why it matters: the person waits; and a time-out that answers nothing looks like silence.
    Stays silent: where calls have no duration; where the tool's usual time is not known (20
    finished runs) and something came back.
    Yields: one finding for each such call.
    Likely cause: the service behind the tool is slow or does not answer.
    Fix in code: set a time-out in the tool and return it as an error with what to do next.
    Source: the round numbers at which clients give up.
    """
    usual = limits.baseline.tool_ms_p95 if limits.baseline.known else {}
    for call in reading.calls:
        took = call.call.duration_ms
        if took is None:
            continue
        normal = usual.get(call.name)
        timeout = _timeout(call, took)
        if timeout is not None:
            why = (
                f"{call.name} came back with nothing after {duration(took / 1000)}: it looks "
                f"like a time-out of {timeout // 1000} s."
            )
        elif normal is not None and took > normal * TIMES_NORMAL:
            why = (
                f"{call.name} took {duration(took / 1000)}; 95% of its calls stay under "
                f"{duration(normal / 1000)}."
            )
        else:
            continue
        yield Draft(
            at=call.place,
            why=why,
            brief=f"{call.name} was slow",
            tool=call.name,
            values={"ms": took, "usual_ms": normal, "timeout_ms": timeout, "error": "slow"},
        )


def _timeout(call: CallReading, took: float) -> int | None:
    if call.empty is None:
        return None
    return next((each for each in TIMEOUTS if each * 0.995 <= took <= each * AFTER_TIMEOUT), None)
