from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from transcripts.templatetags.measures import ago, compact, grouped, lasted, money


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "?"), (0, "0"), (999, "999"), (6720, "6.7 k"),
     (351_000, "351 k"), (42_100_000, "42 M")],
)  # fmt: skip
def test_counts_in_few_digits(value: int | None, words: str) -> None:
    assert compact(value) == words


def test_counts_in_full() -> None:
    assert grouped(32_843) == "32,843"


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(None, ""), (340, "340 ms"), (1500, "1.5 s"), (38_000, "38 s"), (2_040_000, "34 min"),
     (7_500_000, "2 h 5 min")],
)  # fmt: skip
def test_durations(milliseconds: float | None, words: str) -> None:
    assert lasted(milliseconds) == words


@pytest.mark.parametrize(
    ("cost", "currency", "words"),
    [(None, "INR", ""), ("420", "INR", "₹420"), ("5.5", "EUR", "€5.50"), ("6", "usd", "$6"),
     ("0.0312", "USD", "$0.031"), ("12.5", "CHF", "12.50 CHF"), ("3", "", "3")],
)  # fmt: skip
def test_money(cost: str | None, currency: str, words: str) -> None:
    assert money(None if cost is None else Decimal(cost), currency) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [(10, "just now"), (720, "12 min ago"), (7200, "2 h ago"), (86_400, "1 day ago")],
)
def test_how_long_ago(before: int, words: str) -> None:
    assert f">{words}</time>" in ago(timezone.now() - timedelta(seconds=before))


def test_long_ago_is_a_date_and_exact_on_hover() -> None:
    html = ago(datetime(2020, 3, 1, 8, 5, tzinfo=UTC))

    assert ">1 Mar 2020</time>" in html
    assert 'title="2020-03-01 08:05:00 UTC"' in html
