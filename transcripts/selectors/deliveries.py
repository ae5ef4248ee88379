"""Deliveries: the list of a project, and one by its receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, F, QuerySet

from transcripts.choices import DeliveryState
from transcripts.key_sets import beyond
from transcripts.models import Delivery, Project, Run, User

Place = tuple[datetime, UUID]


def delivery_list(
    *,
    project: Project,
    state: DeliveryState | None = None,
    before: Place | None = None,
    limit: int = 50,
) -> list[Delivery]:
    """Deliveries newest first, without their bodies. `before`: arrival and id of the last one
    seen.
    """
    found = Delivery.objects.filter(project=project).defer("body")
    if state is not None:
        found = found.filter(state=state)
    if before is not None:
        found = found.filter(beyond((F("received_at"), F("pk")), before, up=False))
    found = found.select_related("api_key", "user")
    return list(found.order_by("-received_at", "-pk")[:limit])


def delivery_counts(*, project: Project) -> dict[str, int]:
    """How many deliveries wait, are in quarantine, were discarded. Those stored are not counted:
    they grow without end.
    """
    counted = Delivery.objects.filter(project=project).exclude(state=DeliveryState.STORED)
    return dict(counted.order_by().values_list("state").annotate(count=Count("pk")))


def deliveries_wait() -> bool:
    """Whether any delivery waits for a worker, or is with one."""
    return Delivery.objects.filter(state=DeliveryState.ACCEPTED).exists()


def deliveries_held(*, project: Project, user: User) -> list[Delivery]:
    """The files that this person uploaded and has yet to confirm, in the order of upload."""
    found = Delivery.objects.filter(project=project, user=user, state=DeliveryState.HELD)
    return list(found.defer("body").order_by("received_at", "pk"))


def deliveries_by_receipt(
    *, project: Project, receipts: Sequence[UUID], sender: User | None
) -> list[Delivery]:
    """These deliveries of the project, of `sender` alone where one is given, without their bodies;
    in the order of arrival.
    """
    found = Delivery.objects.filter(project=project, pk__in=receipts).defer("body")
    if sender is not None:
        found = found.filter(user=sender)
    return list(found.select_related("api_key", "user").order_by("received_at", "pk"))


@dataclass(frozen=True)
class Arrivals:
    """What came to a project since a moment: how many runs, the latest of them, and how many
    deliveries could not be read.
    """

    count: int
    runs: list[Run]
    quarantined: int


def arrivals(*, project: Project, since: datetime, limit: int = 5) -> Arrivals:
    """What has arrived since then."""
    found = Run.objects.filter(project=project, received_at__gte=since)
    runs = list(found.order_by("-received_at", "-pk")[:limit])
    waiting = Delivery.objects.filter(
        project=project, received_at__gte=since, state=DeliveryState.QUARANTINED
    )
    return Arrivals(found.count() if runs else 0, runs, waiting.count())


def deliveries_quarantined(*, project: Project) -> QuerySet[Delivery]:
    """The deliveries of the project that are in quarantine, to be counted."""
    found = Delivery.objects.filter(project=project, state=DeliveryState.QUARANTINED)
    return found.order_by().only("pk")


def quarantined_receipts(*, project: Project, limit: int) -> list[UUID]:
    """The receipts of deliveries in quarantine, those that came first before the others."""
    found = Delivery.objects.filter(project=project, state=DeliveryState.QUARANTINED)
    return list(found.order_by("received_at", "pk").values_list("pk", flat=True)[:limit])


def delivery_by_receipt(*, project: Project, receipt: UUID) -> Delivery | None:
    """One delivery of the project, without its body."""
    found = Delivery.objects.filter(project=project, pk=receipt).defer("body")
    return found.select_related("api_key", "user").first()
