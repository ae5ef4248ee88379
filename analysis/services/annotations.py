"""Writes of what people say about runs and incidents. Each can be taken back for a day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from analysis.models import (
    Annotation,
    AnnotationKind,
    AnnotationVersion,
    Incident,
)
from analysis.root_causes import ROOT_CAUSE
from analysis.services.incident_states import EventKind
from analysis.services.incidents import told
from analysis.services.mention_mail import mentions_tell
from transcripts.access import May, Reader
from transcripts.choices import AccessAction
from transcripts.maskers import typed_masker
from transcripts.models import Change, Membership, Project, Run, User
from transcripts.pages import note_access
from transcripts.selectors.pointers import pointers_of
from transcripts.undo import UNDONE_WITHIN, UndoError, change_note, undoes

MOST_CHARACTERS = 20_000
MOST_OF_LINK = 2_000
MENTION = re.compile(r"(?<![\w.@])@([\w.+-]+(?:@[\w.-]+\w)?)")
ENGINEERS_SAY = frozenset({AnnotationKind.ROOT_CAUSE, AnnotationKind.ODD_ROUND})


class AnnotationError(Exception):
    """What was said cannot be kept; `field` names where, the text says why."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field


@dataclass(frozen=True)
class Said:
    """What a person says. `round` is a number, None: the run as a whole (of `odd_round`: none)."""

    kind: AnnotationKind
    text: str = ""
    cause: str = ""
    fix_link: str = ""
    round: int | None = None


def annotation_add(
    *, request: HttpRequest, reader: Reader, about: Run | Incident, said: Said
) -> tuple[Annotation, Change]:
    """Keep what a person says of a run or an incident. Raises `AnnotationError`."""
    _require(reader, about, said.kind)
    _check(said)
    run = about if isinstance(about, Run) else None
    with transaction.atomic():
        annotation = Annotation(
            project=reader.project,
            run=run,
            incident=about if isinstance(about, Incident) else None,
            kind=said.kind,
            author=reader.user,
            **_texts(reader.project, said),
        )
        if run is not None and said.round is not None:
            annotation.pointer = _pointer(run, said.round)
            annotation.round = said.round
        superseded: list[int] = []
        if run is not None and said.kind == AnnotationKind.ODD_ROUND:
            superseded = _supersede(run)
            verdict = getattr(run, "verdict", None)
            annotation.said_round = verdict.odd_round if verdict else None
            annotation.said_suite = verdict.suite if verdict else ""
        annotation.save()
        people = _mentioned(reader.project, said.text)
        annotation.mentions.set(people)
        mentions_tell(annotation=annotation, people=people)
        if annotation.incident is not None:
            root = said.kind == AnnotationKind.ROOT_CAUSE
            event = EventKind.NAMED_CAUSE if root else EventKind.COMMENTED
            told(annotation.incident, event, {"annotation": annotation.pk}, reader.user).save()
        before = {"annotation": annotation.pk, "superseded": superseded}
        change = change_note(reader=reader, kind="annotation_added", before=before)
        _note(request, reader, annotation, "added")
    return annotation, change


def annotation_edit(
    *, request: HttpRequest, reader: Reader, annotation: Annotation, said: Said
) -> Change:
    """Put other words in an own annotation; what it said is kept as a version."""
    if annotation.author_id != reader.user.pk:
        raise PermissionDenied("Only who wrote this may change it.")
    _require(reader, _about(annotation), AnnotationKind(annotation.kind))
    _check(said)
    with transaction.atomic():
        version = AnnotationVersion.objects.create(
            annotation=annotation,
            cause=annotation.cause,
            text=annotation.text,
            fix_link=annotation.fix_link,
        )
        for name, value in _texts(reader.project, said).items():
            setattr(annotation, name, value)
        annotation.edited_at = timezone.now()
        annotation.save()
        people = _mentioned(reader.project, said.text)
        known = set(annotation.mentions.values_list("pk", flat=True))
        annotation.mentions.set(people)
        mentions_tell(annotation=annotation, people=[new for new in people if new.pk not in known])
        change = change_note(
            reader=reader,
            kind="annotation_edited",
            before={"annotation": annotation.pk, "version": version.pk},
        )
        _note(request, reader, annotation, "edited", was=version.cause)
    return change


def annotation_remove(*, request: HttpRequest, reader: Reader, annotation: Annotation) -> Change:
    """Take an annotation away; its author may, and an administrator."""
    if annotation.author_id != reader.user.pk:
        reader.require(May.ADMINISTER)
    with transaction.atomic():
        annotation.removed_at = timezone.now()
        annotation.save(update_fields=["removed_at"])
        change = change_note(
            reader=reader, kind="annotation_removed", before={"annotation": annotation.pk}
        )
        _note(request, reader, annotation, "removed")
    return change


def annotations_forget() -> int:
    """Remove for good what was taken away and can no longer be brought back."""
    gone = Annotation.objects.filter(removed_at__lt=timezone.now() - UNDONE_WITHIN - timedelta(1))
    return gone.delete()[0]


@undoes("annotation_added", may=May.TRIAGE)
def _unadd(reader: Reader, before: Mapping[str, Any]) -> str:
    annotation = _own(reader, before)
    if annotation.edited_at is not None:
        raise UndoError("It was edited since. Remove it where it stands, if it is to go.")
    annotation.removed_at = timezone.now()
    annotation.save(update_fields=["removed_at"])
    # What it took the place of counts again.
    superseded = before.get("superseded", ())
    Annotation.objects.filter(project=reader.project, pk__in=superseded).update(removed_at=None)
    return "The annotation is taken back."


@undoes("annotation_edited", may=May.TRIAGE)
def _unedit(reader: Reader, before: Mapping[str, Any]) -> str:
    annotation = _own(reader, before)
    version = annotation.versions.first()
    if version is None or version.pk != before["version"]:
        raise UndoError("It was edited again since.")
    annotation.cause, annotation.text = version.cause, version.text
    annotation.fix_link = version.fix_link
    version.delete()
    if not annotation.versions.exists():
        annotation.edited_at = None
    annotation.save()
    annotation.mentions.set(_mentioned(reader.project, str(annotation.text)))
    return "The annotation says again what it said."


@undoes("annotation_removed", may=May.TRIAGE)
def _unremove(reader: Reader, before: Mapping[str, Any]) -> str:
    annotation = _own(reader, before, removed=True)
    if annotation.author_id != reader.user.pk:
        reader.require(May.ADMINISTER)
    others = Annotation.objects.filter(
        run=annotation.run, kind=AnnotationKind.ODD_ROUND, removed_at=None
    )
    if annotation.kind == AnnotationKind.ODD_ROUND and others.exists():
        raise UndoError("Somebody has said since where the first odd round really is.")
    annotation.removed_at = None
    annotation.save(update_fields=["removed_at"])
    return "The annotation is back."


def _own(reader: Reader, before: Mapping[str, Any], *, removed: bool = False) -> Annotation:
    found = Annotation.objects.select_for_update().filter(
        project=reader.project, pk=before["annotation"]
    )
    annotation = found.filter(removed_at__isnull=not removed).first()
    if annotation is None:
        raise UndoError("This annotation is not there any more.")
    return annotation


def _about(annotation: Annotation) -> Run | Incident:
    about = annotation.run or annotation.incident
    assert about is not None  # a constraint of the table
    return about


def _require(reader: Reader, about: Run | Incident, kind: AnnotationKind) -> None:
    reader.require(May.ENGINEER if kind in ENGINEERS_SAY else May.TRIAGE)
    if isinstance(about, Run):
        reader.require_read(about)


def _check(said: Said) -> None:
    if len(said.text) > MOST_CHARACTERS:
        raise AnnotationError("text", f"At most {MOST_CHARACTERS:,} characters.")
    if said.kind == AnnotationKind.ROOT_CAUSE and said.cause not in ROOT_CAUSE:
        raise AnnotationError("cause", "Choose a root cause.")
    if said.kind in (AnnotationKind.NOTE, AnnotationKind.TRIED) and not said.text.strip():
        raise AnnotationError("text", "Write something.")
    if said.fix_link:
        parts = urlsplit(said.fix_link)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise AnnotationError("fix_link", "A link starts with https:// or http://.")
        if len(said.fix_link) > MOST_OF_LINK:
            raise AnnotationError("fix_link", f"At most {MOST_OF_LINK:,} characters.")


def _texts(project: Project, said: Said) -> dict[str, Any]:
    masker = typed_masker(project)
    return {
        "cause": said.cause if said.kind == AnnotationKind.ROOT_CAUSE else "",
        "text": masker.text(said.text.strip()),
        "fix_link": masker.text(said.fix_link.strip()),
    }


def _pointer(run: Run, number: int) -> str:
    pointer = pointers_of(run=run, numbers=[number]).get(number)
    if pointer is None:
        raise AnnotationError("round", f"Round {number:,} is not in this run.")
    return pointer


def _supersede(run: Run) -> list[int]:
    """There is one truth about a run's first odd round: the latest word on it. Returns the ids of
    what it takes the place of.
    """
    before = Annotation.objects.filter(run=run, kind=AnnotationKind.ODD_ROUND, removed_at=None)
    pks = list(before.order_by("pk").values_list("pk", flat=True))
    before.update(removed_at=timezone.now())
    return pks


def _mentioned(project: Project, text: str) -> list[User]:
    """Members whom the text names: `@` with the address, its part before the @, or the name
    without spaces. A name that several have names nobody.
    """
    wanted = {match[1].lower().rstrip(".") for match in MENTION.finditer(text)}
    if not wanted:
        return []
    named: dict[str, set[User]] = {}
    members = Membership.objects.filter(project=project, user__is_active=True)
    for membership in members.select_related("user").order_by("pk"):
        user = membership.user
        local = user.email.lower().split("@")[0]
        for name in (user.email.lower(), local, user.name.lower().replace(" ", "")):
            if name:
                named.setdefault(name, set()).add(user)
    found = {next(iter(named[name])) for name in wanted if len(named.get(name, ())) == 1}
    return sorted(found, key=lambda user: user.pk)


def _note(
    request: HttpRequest, reader: Reader, annotation: Annotation, did: str, was: str = ""
) -> None:
    detail: dict[str, Any] = {did: annotation.pk, "kind": str(annotation.kind)}
    if annotation.cause or was:
        detail["cause"] = annotation.cause
    if was:
        detail["was"] = was
    if annotation.incident:
        detail["incident"] = annotation.incident.name
    note_access(request, reader, AccessAction.ANNOTATE, annotation.run, detail)
