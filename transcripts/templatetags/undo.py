"""The button that takes a change back, in the message that tells of it."""

from __future__ import annotations

from django import template
from django.contrib.messages.storage.base import Message

from transcripts.undo import TAG

register = template.Library()


@register.filter
def change_of(message: Message) -> int | None:
    """The id of the change that a message tells of."""
    for tag in (message.extra_tags or "").split():
        if tag.startswith(TAG) and tag[len(TAG) :].isdigit():
            return int(tag[len(TAG) :])
    return None
