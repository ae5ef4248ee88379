"""What waits for people, in the navigation."""

from __future__ import annotations

from django import template

from analysis.selectors.annotations import mentions_unread
from analysis.selectors.hand_offs import waiting_runs
from transcripts.access import May, Reader
from transcripts.models import Delivery
from transcripts.selectors.counting import counts_of
from transcripts.selectors.deliveries import deliveries_quarantined

register = template.Library()

# Counted on every page, and no further.
MOST_COUNTED = 99


@register.simple_tag
def waiting_counts(reader: Reader) -> dict[str, str]:
    """What waits in a project, as `queue` (handed-off runs), `mentions` that a person has not read
    and, for administrators, deliveries in `quarantine`: "3", "99+"; empty for none. One query.
    """
    administers = reader.may(May.ADMINISTER)
    waiting = {
        "queue": waiting_runs(project=reader.project),
        "mentions": mentions_unread(reader=reader),
        "quarantine": deliveries_quarantined(project=reader.project)
        if administers
        else Delivery.objects.none(),
    }
    counts = counts_of(*(rows[: MOST_COUNTED + 1] for rows in waiting.values()))
    return {name: _told(count) for name, count in zip(waiting, counts, strict=True)}


def _told(count: int) -> str:
    return f"{MOST_COUNTED}+" if count > MOST_COUNTED else str(count or "")
