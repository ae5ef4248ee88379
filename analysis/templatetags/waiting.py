"""What waits for people, in the navigation."""

from __future__ import annotations

from django import template

from analysis.selectors.annotations import COUNT_UP_TO as MENTIONS_UP_TO
from analysis.selectors.annotations import mentions_unread
from analysis.selectors.hand_offs import COUNT_UP_TO, waiting_count
from transcripts.access import May, Reader

register = template.Library()


@register.simple_tag
def mention_count(reader: Reader) -> str:
    """How many mentions of a person they have not read: "3", "99+"; empty for none, and for who may
    read none. One query.
    """
    if not reader.may(May.READ_TRANSCRIPTS):
        return ""
    count = mentions_unread(reader=reader)
    if not count:
        return ""
    return f"{MENTIONS_UP_TO}+" if count > MENTIONS_UP_TO else str(count)


@register.simple_tag
def queue_count(reader: Reader) -> str:
    """How many handed-off runs wait: "3", "99+"; empty for none. One query."""
    count = waiting_count(project=reader.project)
    if not count:
        return ""
    return f"{COUNT_UP_TO}+" if count > COUNT_UP_TO else str(count)
