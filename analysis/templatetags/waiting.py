"""What waits for people, in the navigation."""

from __future__ import annotations

from django import template

from analysis.selectors.hand_offs import COUNT_UP_TO, waiting_count
from transcripts.access import Reader

register = template.Library()


@register.simple_tag
def queue_count(reader: Reader) -> str:
    """How many handed-off runs wait: "3", "99+"; empty for none. One query."""
    count = waiting_count(project=reader.project)
    if not count:
        return ""
    return f"{COUNT_UP_TO}+" if count > COUNT_UP_TO else str(count)
