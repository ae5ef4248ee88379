"""What people ask for on incidents, by form, and what came of it in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django import forms
from django.utils import timezone

from analysis.incident_words import PRIORITIES
from analysis.models import Incident, Priority, VersionKind
from analysis.pages.incident_lists import incident_number
from analysis.selectors.incidents import incident_by_number, owners_possible
from analysis.services import incidents as services
from analysis.services.incident_merging import MergeError, incident_split, incidents_merge
from analysis.services.incident_undo import CHANGED, MERGED, SPLIT
from analysis.services.incidents import Before
from transcripts.access import May, Reader
from transcripts.maskers import typed_masker

MOST_RUNS = 1_000_000
ASIDE = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}


class ChangeError(ValueError):
    """What was asked for cannot be done; the message says why, for people."""


@dataclass(frozen=True)
class Decided:
    """What was done: a sentence, and what takes it back (`kind`, `before`)."""

    words: str
    kind: str
    before: Before


class IncidentChangeForm(forms.Form):
    """One of the changes; each reads the fields that it needs."""

    owner = forms.IntegerField(required=False)
    priority = forms.TypedChoiceField(
        choices=Priority.choices, coerce=int, required=False, empty_value=None
    )
    kind = forms.ChoiceField(choices=VersionKind.choices, required=False)
    version = forms.CharField(max_length=300, required=False)
    until = forms.DateField(required=False)
    runs = forms.IntegerField(min_value=1, max_value=MOST_RUNS, required=False)
    aside = forms.CharField(max_length=10, required=False)
    into = forms.CharField(max_length=20, required=False)
    fingerprint = forms.CharField(required=False)


Decide = Callable[[Reader, Sequence[Incident], IncidentChangeForm], Decided | None]


def decide(
    reader: Reader, incidents: Sequence[Incident], action: str, form: IncidentChangeForm
) -> Decided | None:
    """Do what was asked for; None where nothing changed. Raises `ChangeError`."""
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        raise ChangeError(f"{str(name).capitalize()}: {errors[0]}")
    change = ACTIONS.get(action)
    if change is None:
        raise ChangeError("There is no such change.")
    try:
        return change(reader, incidents, form)
    except MergeError as error:
        raise ChangeError(str(error)) from None


def _changed(words: str, incidents: Sequence[Incident], before: Before | None) -> Decided | None:
    if before is None:
        return None
    count = len(before["rows"])
    name = incidents[0].name if len(incidents) == 1 else f"{count} incidents"
    verb = "is" if len(incidents) == 1 or count == 1 else "are"
    return Decided(f"{name} {verb} {words}.", CHANGED, before)


def _assign(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    wanted = form.cleaned_data["owner"]
    people = {each.pk: each for each in owners_possible(project=reader.project)}
    if wanted is not None and wanted not in people:
        raise ChangeError("An owner is a member of the project who may change incidents.")
    owner = people[wanted] if wanted is not None else None
    before = services.incidents_assign(
        project=reader.project, pks=_pks(incidents), owner=owner, user=reader.user
    )
    words = "nobody's now" if owner is None else f"{owner.short_name}'s now"
    return _changed("yours now" if owner == reader.user else words, incidents, before)


def _take(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    before = services.incidents_assign(
        project=reader.project, pks=_pks(incidents), owner=reader.user, user=reader.user
    )
    return _changed("yours now", incidents, before)


def _prioritise(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    priority = form.cleaned_data["priority"]
    if priority is None:
        raise ChangeError("Choose a priority.")
    before = services.incidents_prioritise(
        project=reader.project, pks=_pks(incidents), priority=Priority(priority), user=reader.user
    )
    return _changed(f"of {PRIORITIES[priority].lower()} priority now", incidents, before)


def _resolve(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    # Masked at once: what was done is said again in a message.
    typed = form.cleaned_data["version"].strip()
    version = typed_masker(reader.project).text(typed) if typed else None
    kind = VersionKind(form.cleaned_data["kind"] or VersionKind.PROMPT)
    before = services.incidents_resolve(
        project=reader.project,
        pks=_pks(incidents),
        user=reader.user,
        version=version,
        kind=kind,
    )
    return _changed(f"resolved in {kind} {version}" if version else "resolved", incidents, before)


def _reopen(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    before = services.incidents_reopen(
        project=reader.project, pks=_pks(incidents), user=reader.user
    )
    return _changed("open again", incidents, before)


def _ignore(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    said = form.cleaned_data
    until: datetime | None = None
    if said["aside"] in ASIDE:
        until = timezone.now() + ASIDE[said["aside"]]
    elif said["until"]:
        until = _end_of(said["until"])
        if until <= timezone.now():
            raise ChangeError("Choose a day that is still to come.")
    before = services.incidents_ignore(
        project=reader.project, pks=_pks(incidents), user=reader.user, until=until,
        runs=said["runs"],
    )  # fmt: skip
    parts = [f"until {timezone.localtime(until):%-d %b, %H:%M}"] if until else []
    parts += [f"until {said['runs']} more runs have it"] if said["runs"] else []
    return _changed(f"ignored {' or '.join(parts) or 'for good'}", incidents, before)


def _ignore_for_a_week(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    form.cleaned_data["aside"] = "week"
    return _ignore(reader, incidents, form)


def _hold(held: bool) -> Decide:
    def change(
        reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
    ) -> Decided | None:
        reader.require(May.ADMINISTER)
        before = services.incidents_hold(
            project=reader.project, pks=_pks(incidents), held=held, user=reader.user
        )
        words = "on legal hold: its runs are not deleted" if held else "off legal hold"
        return _changed(words, incidents, before)

    return change


def _merge(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    number = incident_number(form.cleaned_data["into"])
    if number is None and len(incidents) > 1:
        # Several of a list: into the one that was known first.
        into = min(incidents, key=lambda each: each.number)
    else:
        found = incident_by_number(project=reader.project, number=number) if number else None
        if found is None:
            raise ChangeError("Say which incident it is to be merged into: INC-14.")
        into = found
    before = incidents_merge(
        project=reader.project, into=into, pks=_pks(incidents), user=reader.user
    )
    count = len(before["rows"])
    what = "1 incident is" if count == 1 else f"{count} incidents are"
    return Decided(f"{what} part of {into.name} now.", MERGED, before)


def _split(
    reader: Reader, incidents: Sequence[Incident], form: IncidentChangeForm
) -> Decided | None:
    chosen = [int(pk) for pk in form.data.getlist("fingerprint") if pk.isascii() and pk.isdecimal()]  # type: ignore[attr-defined]
    source = incidents[0]
    new, before = incident_split(
        project=reader.project, source=source, fingerprints=chosen, user=reader.user
    )
    return Decided(f"{new.name} was split off from {source.name}.", SPLIT, before)


def _pks(incidents: Sequence[Incident]) -> list[int]:
    return [incident.pk for incident in incidents]


def _end_of(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time()))


ACTIONS: dict[str, Decide] = {
    "assign": _assign,
    "take": _take,
    "priority": _prioritise,
    "resolve": _resolve,
    "reopen": _reopen,
    "ignore": _ignore,
    "ignore_week": _ignore_for_a_week,
    "hold": _hold(True),
    "release": _hold(False),
    "merge": _merge,
    "split": _split,
}
