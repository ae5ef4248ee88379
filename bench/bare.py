"""The worker without search, grouping and alerts, to see what they cost: `celery -A bench.bare`.

No setting of Agentdesk turns them off; here the services that a delivery calls do nothing.
"""

from __future__ import annotations

from typing import Any

from celery.signals import worker_init

from agentdesk.celery import app

__all__ = ["app"]


def nothing(**_: Any) -> None:
    """In the place of a service."""


@worker_init.connect
def leave_out(**_: Any) -> None:
    from agentdesk import tasks
    from analysis.services import verdicts
    from transcripts.services import runs

    for module, names in (
        (runs, ("delivery_text_note", "run_names_note")),
        (tasks, ("enqueue_index",)),
        (verdicts, ("run_group", "run_tell")),
    ):
        for name in names:
            assert callable(getattr(module, name)), name
            setattr(module, name, nothing)
