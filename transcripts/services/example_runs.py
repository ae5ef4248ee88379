"""The runs that come with Agentdesk, to try things on: sent, found again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from transcripts.choices import DeliveryKind, Removal
from transcripts.keys import run_digest
from transcripts.models import Delivery, ErasedRun, Project, Run, User
from transcripts.queueing import DELIVER, enqueue
from transcripts.services.deliveries import delivery_accept

# In the order in which they arrive: the newest that is flagged stands first in the list.
FILES = ("password-20938", "payroll-20962", "vpn-20931", "vpn-20931-again")


class ExamplesError(Exception):
    """The examples cannot be sent now; the text says why, for people."""


@cache
def example_runs() -> dict[str, str]:
    """The examples by run id, in order of arrival, as JSON text; each is labelled as one."""
    name, value = Run.EXAMPLE
    found = {}
    for file in FILES:
        run = json.loads((Path(settings.EXAMPLES) / f"{file}.json").read_text(encoding="utf-8"))
        run["labels"] = {**run.get("labels", {}), name: value}
        found[run["run_id"]] = json.dumps(run, ensure_ascii=False)
    return found


def examples_of(*, project: Project) -> QuerySet[Run]:
    """The examples that are in a project; a run of the same id without the label is none."""
    found = Run.objects.filter(project=project, digest__in=_digests(project))
    return found.filter(labels__contains=[list(Run.EXAMPLE)]).exclude(removal=Removal.RUN)


@transaction.atomic
def examples_send(*, project: Project, user: User | None = None) -> Delivery:
    """Send the examples by the way that all files take, also those that were removed before.

    Raises `ExamplesError` while they are being removed.
    """
    digests = _digests(project)
    if Run.objects.filter(project=project, digest__in=digests, removal=Removal.RUN).exists():
        raise ExamplesError("The examples are still being removed. Try again in a moment.")
    ErasedRun.objects.filter(project=project, digest__in=digests).delete()
    delivery, _ = delivery_accept(
        project=project,
        kind=DeliveryKind.FILE,
        content="\n".join(example_runs().values()).encode(),
        file_name="examples.jsonl",
        user=user,
    )
    transaction.on_commit(lambda: enqueue(DELIVER, str(delivery.pk)))
    return delivery


def _digests(project: Project) -> list[bytes]:
    return [run_digest(project.pk, run_id) for run_id in example_runs()]
