"""Where people reach this Agentdesk, as far as a command can know."""

from __future__ import annotations

from django.conf import settings

from agentdesk.environment import state_folder
from agentdesk.local.state import State


def site_address() -> str:
    """The origin of the pages (`https://agentdesk.example.org`): the first of AGENTDESK_ORIGINS,
    else where `./desk up` runs from the same folder; empty where neither is known.
    """
    if settings.CSRF_TRUSTED_ORIGINS:
        return str(settings.CSRF_TRUSTED_ORIGINS[0]).rstrip("/")
    try:
        holder = State(state_folder()).holder() or {}
    except OSError:
        return ""
    return str(holder.get("address", ""))
