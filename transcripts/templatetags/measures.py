"""Figures as people read them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

SYMBOLS = {"INR": "₹", "EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥"}
SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86400


@register.filter
def compact(value: int | None) -> str:
    """A count in three or four digits: 840, 6.7 k, 351 k, 12 M."""
    if value is None:
        return "?"
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f} {unit}" if scaled < 10 else f"{scaled:.0f} {unit}"
    return str(value)


@register.filter
def grouped(value: int | None) -> str:
    """A count in full: 32,843."""
    return "?" if value is None else f"{value:,}"


@register.filter
def lasted(milliseconds: float | None) -> str:
    """A duration: 340 ms, 38 s, 34 min, 2 h 5 min."""
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    if seconds < SECOND:
        return f"{milliseconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / MINUTE)
    if minutes < 2 * 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


@register.simple_tag
def money(cost: Decimal | None, currency: str) -> str:
    """A cost with its currency's sign: ₹420, $0.0312."""
    if cost is None:
        return ""
    figure = f"{cost:,.0f}" if cost >= 100 else f"{cost:.2f}" if cost >= 1 else f"{cost:.2g}"
    figure = figure.removesuffix(".00")
    symbol = SYMBOLS.get(currency.upper())
    return f"{symbol}{figure}" if symbol else f"{figure} {currency}".strip()


@register.filter
def ago(moment: datetime | None) -> SafeString | str:
    """How long ago, with the exact time on hover: "12 min ago", "3 Nov"."""
    if moment is None:
        return "never"
    local = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(timespec="seconds"),
        local.strftime("%Y-%m-%d %H:%M:%S %Z"),
        _ago_words(moment),
    )


def _ago_words(moment: datetime) -> str:
    now = timezone.now()
    seconds = (now - moment).total_seconds()
    if seconds < -MINUTE:
        return timezone.localtime(moment).strftime("%d %b %Y, %H:%M").lstrip("0")
    if seconds < 45:
        return "just now"
    if seconds < HOUR:
        return f"{max(1, round(seconds / MINUTE))} min ago"
    if seconds < DAY:
        return f"{round(seconds / HOUR)} h ago"
    if seconds < 7 * DAY:
        days = round(seconds / DAY)
        return f"{days} day{'' if days == 1 else 's'} ago"
    form = "%d %b" if moment.year == now.year else "%d %b %Y"
    return timezone.localtime(moment).strftime(form).lstrip("0")


@register.filter
def share(part: float) -> str:
    """A share of one as percent: 12%, under 1%, none."""
    if part <= 0:
        return ""
    return "under 1%" if part < 0.01 else f"{part:.0%}"


@register.simple_tag
def share_of(part: int, whole: int) -> str:
    """How much of the whole a part is."""
    return share(part / whole) if whole else ""
