"""Mail to who is mentioned in a comment: that they are, by whom and where, and no word of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.conf import settings
from django.db import transaction
from django.http import Http404
from django.urls import reverse

from analysis.models import Annotation
from transcripts.access import May, reader_for
from transcripts.mail import mail_send
from transcripts.models import User
from transcripts.queueing import MENTION_MAIL, enqueue

# A comment that is taken back by then is told to nobody.
AFTER_SECONDS = 60


def mentions_tell(*, annotation: Annotation, people: Iterable[User]) -> None:
    """Queue a mail to each of `people` but its author, once what was said is committed."""
    if not settings.AGENTDESK_SENDS_MAIL:
        return
    for person in people:
        if person.pk != annotation.author_id:
            told = f"{annotation.pk} {person.pk}"
            transaction.on_commit(partial(enqueue, MENTION_MAIL, told, countdown=AFTER_SECONDS))


def mention_send(*, annotation_pk: int, user_pk: int) -> bool:
    """Mail that a person is mentioned; False where that is no longer so, they may not read it, or
    the mail does not go.
    """
    found = Annotation.objects.select_related("project", "run", "incident", "author").filter(
        pk=annotation_pk, removed_at=None, mentions=user_pk, mentions__is_active=True
    )
    annotation = found.first()
    if annotation is None:
        return False
    person = User.objects.get(pk=user_pk)
    try:
        reader = reader_for(person, annotation.project.slug)
    except Http404:
        return False
    if not reader.may(May.READ_TRANSCRIPTS) or (
        annotation.run is not None and not reader.may_read(annotation.run)
    ):
        return False
    place, path = _place(annotation)
    who = annotation.author.short_name if annotation.author else "Somebody"
    context = {
        "who": who,
        "place": place,
        "project": annotation.project.name,
        "link": settings.AGENTDESK_URL.rstrip("/") + path,
    }
    subject = f"{who} mentioned you at {place}"
    return mail_send(to=person.email, subject=subject, name="mention", context=context)


def _place(annotation: Annotation) -> tuple[str, str]:
    """What it is about in words, and the path of its page."""
    slug = annotation.project.slug
    if annotation.run is None:
        assert annotation.incident is not None  # a constraint of the table
        number = annotation.incident.number
        return annotation.incident.name, reverse("analysis:incident_detail", args=[slug, number])
    words = str(annotation.run.ticket_id or annotation.run.run_id)
    path = reverse("analysis:run_detail", args=[slug, annotation.run.pk])
    if annotation.round is None:
        return words, path
    round_ = annotation.round
    return f"{words}, round {round_}", f"{path}?at={round_}#r{round_}"
