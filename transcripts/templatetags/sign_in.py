"""What pages of signing in show."""

from __future__ import annotations

import re

import qrcode
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

QUIET_MODULES = 4
BROWSERS = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrom", "Chrome"),
    ("Safari", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"),
    ("Mac OS", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


@register.simple_tag
def qr_code(text: str) -> SafeString:
    """A QR code as SVG: one path, coloured by attributes, so that no policy is in its way."""
    code = qrcode.QRCode(border=QUIET_MODULES)
    code.add_data(text)
    rows = code.get_matrix()
    runs = (
        f"M{match.start()} {y}h{match.end() - match.start()}v1h-{match.end() - match.start()}z"
        for y, row in enumerate(rows)
        for match in re.finditer("1+", "".join("01"[dark] for dark in row))
    )
    return format_html(
        '<svg viewBox="0 0 {0} {0}" role="img" aria-label="QR code of the secret" '
        'shape-rendering="crispEdges"><rect width="{0}" height="{0}" fill="#fff"/>'
        '<path fill="#000" d="{1}"/></svg>',
        len(rows),
        "".join(runs),
    )


@register.filter
def browser(user_agent: str) -> str:
    """A browser and its system in two words."""
    name = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if sign in user_agent), "")
    return " on ".join(filter(None, (name, system))) or "another program"
