"""The audit log: who read or changed what."""

from __future__ import annotations

from transcripts.models import AccessEntry, Project


def access_list(
    *,
    project: Project,
    who: str = "",
    action: str = "",
    run_pk: int | None = None,
    before: int | None = None,
    limit: int,
) -> list[AccessEntry]:
    """Lines newest first; empty filters let everything through. `before`: id of the last one seen.

    Lines are only ever added, so that ids ascend with time.
    """
    entries = AccessEntry.objects.filter(project_id=project.pk)
    if who:
        entries = entries.filter(who__icontains=who)
    if action:
        entries = entries.filter(action=action)
    if run_pk is not None:
        entries = entries.filter(run_pk=run_pk)
    if before is not None:
        entries = entries.filter(pk__lt=before)
    return list(entries.order_by("-pk")[:limit])
