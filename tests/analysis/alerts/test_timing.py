from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from analysis.alerts.timing import DELAYS, MOST_TRIES, after_quiet, due, next_try

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NIGHT = (time(22), time(7))


def at(hour: int, minute: int = 0, day: int = 30) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "quiet", "zone", "then"),
    [
        pytest.param(at(12), NIGHT, "UTC", at(12), id="by day"),
        pytest.param(at(23, day=29), NIGHT, "UTC", at(7), id="before midnight"),
        pytest.param(at(3), NIGHT, "UTC", at(7), id="after midnight"),
        pytest.param(at(22, day=29), NIGHT, "UTC", at(7), id="as they begin"),
        pytest.param(at(7), NIGHT, "UTC", at(7), id="as they end"),
        pytest.param(at(12, 30), (time(12), time(13)), "UTC", at(13), id="at noon"),
        pytest.param(at(18), NIGHT, "Asia/Kolkata", datetime(2026, 12, 1, 1, 30, tzinfo=UTC),
                     id="in another zone"),
        pytest.param(at(3), None, "UTC", at(3), id="none"),
        pytest.param(at(3), (time(3), time(3)), "UTC", at(3), id="empty"),
    ],
)  # fmt: skip
def test_quiet_hours(
    now: datetime, quiet: tuple[time, time] | None, zone: str, then: datetime
) -> None:
    assert after_quiet(now, quiet, zone) == then


def test_quiet_hours_end_by_the_clock_of_their_zone_when_it_changes() -> None:
    """Clocks go back in the night to 25 October 2026."""
    night = datetime(2026, 10, 24, 21, 0, tzinfo=UTC)

    assert after_quiet(night, NIGHT, "Europe/Berlin") == datetime(2026, 10, 25, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        pytest.param("Europe/Berlin", datetime(2026, 3, 28, 12, tzinfo=UTC), id="an hour less"),
        pytest.param("Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC), id="an hour more"),
        pytest.param("America/New_York", datetime(2026, 11, 1, tzinfo=UTC), id="in America"),
        pytest.param("Australia/Lord_Howe", datetime(2026, 4, 4, 3, tzinfo=UTC), id="half an hour"),
    ],
)
@pytest.mark.parametrize(
    "quiet",
    [
        pytest.param((time(22), time(2, 30)), id="to what comes twice or never"),
        pytest.param((time(2, 30), time(7)), id="from it"),
        pytest.param((time(1, 50), time(2, 10)), id="around it"),
        pytest.param((time(2, 15), time(2, 45)), id="within it"),
    ],
)
def test_nothing_is_sent_in_quiet_hours_when_clocks_change(
    zone: str, day: datetime, quiet: tuple[time, time]
) -> None:
    """Each five minutes of two days: never earlier than it was due, and never while it is quiet."""
    begin, end = quiet
    for step in range(2 * 24 * 12):
        asked = day + timedelta(minutes=5 * step)

        found = after_quiet(asked, quiet, zone)

        clock = found.astimezone(ZoneInfo(zone)).time()
        inside = begin <= clock < end if begin < end else clock >= begin or clock < end
        assert asked <= found <= asked + timedelta(hours=6)
        assert not inside, (asked, found)


@pytest.mark.parametrize(
    ("waiting", "last", "cooldown", "digest", "then"),
    [
        pytest.param(None, None, 5, 0, at(12), id="the first goes at once"),
        pytest.param(None, at(11, 58), 5, 0, at(12, 3), id="in the cooldown"),
        pytest.param(at(12, 3), at(11, 58), 5, 0, at(12, 3), id="with what waits"),
        pytest.param(None, at(11), 5, 0, at(12), id="after it"),
        pytest.param(None, None, 0, 60, at(13), id="at the next hour"),
        pytest.param(None, at(11, 50), 30, 15, at(12, 30), id="both"),
        pytest.param(at(12, 30), at(11), 0, 0, at(12), id="no cooldown waits for nothing"),
    ],
)
def test_due(
    waiting: datetime | None, last: datetime | None, cooldown: int, digest: int, then: datetime
) -> None:
    found = due(
        now=NOON, waiting=waiting, last=last, cooldown=timedelta(minutes=cooldown),
        digest=timedelta(minutes=digest), quiet=None, zone="UTC",
    )  # fmt: skip

    assert found == then


def test_tries_grow_apart_and_end() -> None:
    waits = [next_try(now=NOON, attempts=n) for n in range(1, MOST_TRIES + 1)]

    assert waits == [*(NOON + delay for delay in DELAYS), None]
    assert list(DELAYS) == sorted(DELAYS)
