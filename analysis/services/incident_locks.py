"""The one lock under which incidents change."""

from __future__ import annotations

from django.db import connection

# Beside that of deliveries with several runs (`transcripts.services.runs.MANY_RUNS`).
INCIDENTS = 2


def incidents_locked(*, project_id: int) -> None:
    """Let nobody else change the project's incidents until the transaction ends.

    It is the last lock that a transaction takes: whoever holds it waits for no run and no delivery.
    So grouping runs at once, and merging meanwhile, cannot wait for each other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", (INCIDENTS, project_id % 2**31))
