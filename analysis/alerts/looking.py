"""Rules that look back: a tool that fails too often, deliveries in quarantine. A beat asks them."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone

from analysis.alerts.outbox import Told, message_write
from analysis.models import AlertKind, AlertRule
from transcripts.choices import DeliveryState
from transcripts.models import Delivery, Run, ToolCall

LOOKING = (AlertKind.TOOL_ERRORS, AlertKind.QUARANTINE)
# Of a window's runs so many of the latest are looked at.
MOST_RUNS = 2_000


def rules_look() -> int:
    """Let each rule look at what came since it looked last; returns how many messages were written.
    Safe to run twice, and at once.
    """
    pks = AlertRule.objects.filter(kind__in=LOOKING, active=True, channel__active=True)
    return sum(_look(pk) for pk in pks.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _look(pk: int) -> int:
    rules = AlertRule.objects.select_for_update(skip_locked=True, of=("self",))
    rule = rules.select_related("channel", "project").filter(pk=pk).first()
    if rule is None:
        return 0
    now = timezone.now()
    look = _quarantined if rule.kind == AlertKind.QUARANTINE else _failing
    written = look(rule, now)
    rule.looked_at = now
    rule.save(update_fields=["looked_at"])
    return written


def _quarantined(rule: AlertRule, now: datetime) -> int:
    found = Delivery.objects.filter(
        project=rule.project_id, state=DeliveryState.QUARANTINED,
        finished_at__gt=rule.looked_at, finished_at__lte=now,
    ).count()  # fmt: skip
    if not found:
        return 0
    what = "1 delivery is" if found == 1 else f"{found} deliveries are"
    address = reverse("transcripts:delivery_list", args=[rule.project.slug])
    told = Told(rule.project, f"{what} in quarantine since the last look.", address, count=found)
    return int(message_write(rule=rule, subject=_at(now), told=told) is not None)


def _failing(rule: AlertRule, now: datetime) -> int:
    """At most one message for a tool in a window."""
    window = timedelta(minutes=rule.window_minutes)
    runs = Run.objects.filter(
        project=rule.project_id, received_at__gt=now - window, received_at__lte=now
    )
    if rule.agent:
        runs = runs.filter(agent=rule.agent)
    latest = runs.order_by("-received_at", "-pk").values("pk")[:MOST_RUNS]
    calls = ToolCall.objects.filter(run__in=list(latest.values_list("pk", flat=True)))
    if rule.tool:
        calls = calls.filter(name=rule.tool)
    rows = calls.order_by().values("name").annotate(
        calls=Count("run"), failed=Count("run", filter=Q(is_error=True))
    )  # fmt: skip
    written = 0
    for row in rows.order_by("name"):
        percent = 100 * row["failed"] // max(1, row["calls"])
        if row["calls"] < rule.least or percent < (rule.percent or 100):
            continue
        # A window that goes on is told once; the next begins when it is over.
        begun = int(now.timestamp() // window.total_seconds())
        subject = f"tool:{begun}:{hash_of(str(row['name']))}"
        words = (
            f"{row['name']} failed in {row['failed']} of {row['calls']} calls ({percent}%) "
            f"in {rule.window_minutes} minutes."
        )
        address = reverse("analysis:run_list", args=[rule.project.slug])
        told = Told(rule.project, words, f"{address}?tab=all", tool=str(row["name"]),
                    calls=row["calls"], failed=row["failed"])  # fmt: skip
        if not rule.messages.filter(subject=subject).exists():
            written += message_write(rule=rule, subject=subject, told=told) is not None
    return written


def hash_of(name: str) -> str:
    """A tool's name as part of a subject, whatever its length."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _at(now: datetime) -> str:
    return f"look:{int(now.timestamp() * 1000)}"
