"""When a message goes: digests, cooldowns, quiet hours, tries. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

# After the first, second, … try that failed; then it is given up.
DELAYS = (
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
)
MOST_TRIES = len(DELAYS) + 1


def due(
    *,
    now: datetime,
    waiting: datetime | None,
    last: datetime | None,
    cooldown: timedelta,
    digest: timedelta,
    quiet: tuple[time, time] | None,
    zone: str,
) -> datetime:
    """When a message that is written now is to be sent. `last` is when the rule spoke last, and
    `waiting` when it is to speak next, of what waits already: that goes together.

    A digest goes at the next whole interval of the day; quiet hours push what falls into them to
    their end.
    """
    if waiting is not None and cooldown:
        return waiting
    at = now
    if last is not None:
        at = max(at, last + cooldown)
    if digest:
        midnight = datetime(at.year, at.month, at.day, tzinfo=at.tzinfo)
        at = midnight + ((at - midnight) // digest + 1) * digest
    return after_quiet(at, quiet, zone)


def after_quiet(at: datetime, quiet: tuple[time, time] | None, zone: str) -> datetime:
    """`at`, or the end of the quiet hours that it falls into; they may go past midnight."""
    if quiet is None or quiet[0] == quiet[1]:
        return at
    begin, end = quiet
    local = at.astimezone(ZoneInfo(zone))
    clock = local.time()
    inside = begin <= clock < end if begin < end else clock >= begin or clock < end
    if not inside:
        return at
    day = local.date() if clock < end else local.date() + timedelta(days=1)
    over = datetime.combine(day, end, tzinfo=local.tzinfo)
    if over.astimezone(UTC) <= at:
        # Clocks have gone back since: the hour that they end in comes once more.
        over = over.replace(fold=1)
    return over.astimezone(at.tzinfo)


def next_try(*, now: datetime, attempts: int) -> datetime | None:
    """When a message that failed `attempts` times is tried again; None: it is given up."""
    return now + DELAYS[attempts - 1] if attempts <= len(DELAYS) else None
