"""The audit log: one line for each reading, export and change, by page or API.

The line is written in the reader's own transaction or before anything is shown: where it cannot be
written, the reading fails with it.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from transcripts.choices import AccessAction
from transcripts.models import AccessEntry, ApiKey, Project, Run, User


def access_record(
    *,
    project: Project | None,
    action: AccessAction,
    run: Run | None = None,
    user: User | None = None,
    api_key: ApiKey | None = None,
    who: str = "",
    request: HttpRequest | None = None,
    detail: dict[str, Any] | None = None,
) -> AccessEntry:
    """Add a line: who did what, from where. Raises what the database raises; never pass that over.

    `detail` holds the code's own words and numbers, e-mail addresses of members and ids of rows,
    and no text of a transcript. Without `request` the line says that it was done on the server
    itself. A line of no project (a sign-in) is seen in the projects of its person.
    """
    return AccessEntry.objects.create(
        project_id=project.pk if project else None,
        user_id=user.pk if user else None,
        api_key_id=api_key.pk if api_key else None,
        who=who or _who(user, api_key),
        action=action,
        what=run.run_id if run else "",
        run_pk=run.pk if run else None,
        address=client_address(request) if request is not None else None,
        detail=detail or {},
    )


def client_address(request: HttpRequest) -> str | None:
    """The client's address. Of `X-Forwarded-For` only what proxies of our own added is believed.

    `AGENTDESK_PROXIES` says how many of them stand in front; the client is the entry that the
    outermost one added, counted from the right, since what is left of it the client may have made
    up.
    """
    hops = settings.AGENTDESK_PROXIES
    address = request.META.get("REMOTE_ADDR", "")
    if hops:
        said = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        # Fewer entries than proxies: it came past them, so nothing in it is theirs.
        if any(said) and len(said) >= hops:
            address = said[-hops].strip()
    try:
        return str(ipaddress.ip_address(address.split("%")[0]))
    except ValueError:
        return None


def _who(user: User | None, api_key: ApiKey | None) -> str:
    if user is not None:
        return user.email
    if api_key is not None:
        return f"key {api_key.name} ({api_key.prefix}…)"[:300]
    return "on the server"
