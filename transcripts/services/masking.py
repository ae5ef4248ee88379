"""Changes of what a project chose about masking. Each raises the project's masking version, which
receipts of runs name, and leaves a line in the audit log, with before and after and no secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from transcripts.audit import access_record
from transcripts.choices import AccessAction
from transcripts.maskers import project_key, run_key, typed_masker
from transcripts.masking import Masker, MaskingError, OwnRule
from transcripts.masking.trying import pattern_text, tried_rule
from transcripts.masking.types import MaskedText
from transcripts.masking.views import canonical
from transcripts.models import MaskingChoice, MaskRule, NotSecret, Project, Run, User

KINDS = ("card", "iban", "email", "phone")
MOST_NAMES = 200
LONGEST_NAME = 80
MOST_RULES = 50
MOST_NOT_SECRET = 1000
SHORTEST_VALUE = 3
LONGEST_VALUE = 8192


class MaskingChoiceError(ValueError):
    """A choice that cannot be made; the message says why, in plain words, and quotes no value."""


def names_cleaned(typed: Iterable[str]) -> list[str]:
    """Names of keys as they are kept: in lower case, each once, by name. Raises
    `MaskingChoiceError`.
    """
    names = sorted({name.strip().lower() for name in typed} - {""})
    if len(names) > MOST_NAMES:
        raise MaskingChoiceError(f"There are {len(names)} names; {MOST_NAMES} are allowed.")
    if any(len(name) > LONGEST_NAME for name in names):
        raise MaskingChoiceError(f"A name may have {LONGEST_NAME} characters.")
    return names


@transaction.atomic
def masking_choice_save(
    *,
    project: Project,
    kinds: Mapping[str, bool],
    names: Iterable[str],
    user: User,
    request: HttpRequest | None = None,
) -> bool:
    """Choose what is masked besides secrets; `kinds` are those of KINDS. False where nothing
    changes.
    """
    choices_locked(project)
    masker = typed_masker(project)
    wanted = {kind: bool(kinds[kind]) for kind in KINDS}
    wanted_names = [_unmasked(masker, name, "A name") for name in names_cleaned(names)]
    choice = MaskingChoice.objects.filter(project=project).first() or MaskingChoice(project=project)
    before = {kind: getattr(choice, kind) for kind in KINDS} | {"names": list(choice.names)}
    after = wanted | {"names": wanted_names}
    if before == after:
        return False
    for name, value in after.items():
        setattr(choice, name, value)
    choice.save()
    _changed(project, user, request, "personal data", before, after)
    return True


def mask_rule_check(
    *, name: str, family: str, pattern: str, must: str, must_not: str
) -> tuple[OwnRule, MaskedText]:
    """The rule that is made of these, and its pattern as it is kept.

    Raises `MaskingChoiceError` with the reason why it cannot be used.
    """
    try:
        tried = tried_rule(name, pattern, family=family, must=must, must_not=must_not)
        return tried, pattern_text(pattern)
    except ValueError as error:
        raise MaskingChoiceError(_sentence(error)) from None


@transaction.atomic
def mask_rule_save(
    *,
    project: Project,
    rule: MaskRule | None,
    name: str,
    family: str,
    pattern: str,
    must: str,
    must_not: str,
    user: User,
    request: HttpRequest | None = None,
) -> MaskRule:
    """Add a rule of the project's own, or put it in the place of `rule`.

    Raises `MaskingChoiceError` with the reason why the rule cannot be used.
    """
    choices_locked(project)
    others = MaskRule.objects.filter(project=project).exclude(pk=rule.pk if rule else 0)
    if others.filter(name=name).exists():
        raise MaskingChoiceError("Another rule has this name.")
    if rule is None and others.count() >= MOST_RULES:
        raise MaskingChoiceError(f"A project may have {MOST_RULES} rules of its own.")
    tried, kept = mask_rule_check(
        name=name, family=family, pattern=pattern, must=must, must_not=must_not
    )
    # What the rule finds in its own example is a secret like any other.
    masker = typed_masker(project, also=tried)
    before = _rule_told(rule) if rule else None
    rule = rule or MaskRule(project=project)
    rule.name, rule.family, rule.pattern = name, family, kept
    rule.must, rule.must_not = masker.text(must), masker.text(must_not)
    rule.changed_at, rule.changed_by = timezone.now(), user
    rule.save()
    _changed(project, user, request, "rule", before, _rule_told(rule))
    return rule


@transaction.atomic
def mask_rule_remove(
    *, project: Project, rule: MaskRule, user: User, request: HttpRequest | None = None
) -> None:
    """Remove a rule. What it masked stays masked."""
    choices_locked(project)
    before = _rule_told(rule)
    rule.delete()
    _changed(project, user, request, "rule", before, None)


def not_secret_add(
    *, project: Project, value: str, why: str, user: User, request: HttpRequest | None = None
) -> NotSecret:
    """Say that a value is no secret to the project, from now on. Raises `MaskingChoiceError`."""
    value = value.strip()
    if not SHORTEST_VALUE <= len(value) <= LONGEST_VALUE:
        raise MaskingChoiceError(f"A value has {SHORTEST_VALUE} to {LONGEST_VALUE} characters.")
    digest = project_key(project).allowed_digest(canonical(value))
    return _allow(project, digest, "typed", why, user, request)


def not_secret_from_run(
    *,
    run: Run,
    placeholder_id: str,
    why: str,
    user: User,
    request: HttpRequest | None = None,
) -> NotSecret:
    """The same for the secret of a placeholder of `run`, by the 8 digits of its id.

    Raises `MaskingChoiceError` where the run does not know it.
    """
    key = run_key(run)
    for known, told in run.mask_known.items():
        family, _, ticket = told.partition(":")
        digest = key.allowed_of(ticket) if known[:8] == placeholder_id and ticket else None
        if digest is not None:
            return _allow(run.project, digest, family, why, user, request)
    raise MaskingChoiceError(
        "This run does not know that secret well enough. Type its value under Settings, Masking."
    )


@transaction.atomic
def not_secret_remove(
    *, project: Project, entry: NotSecret, user: User, request: HttpRequest | None = None
) -> None:
    """Take a value off the list: it is masked again in what comes from now on."""
    choices_locked(project)
    before = _entry_told(entry)
    entry.delete()
    _changed(project, user, request, "no secret", before, None)


@transaction.atomic
def _allow(
    project: Project, digest: str, shown: str, why: str, user: User, request: HttpRequest | None
) -> NotSecret:
    choices_locked(project)
    if not why.strip():
        raise MaskingChoiceError("Say why it is no secret.")
    listed = NotSecret.objects.filter(project=project)
    if listed.filter(digest=bytes.fromhex(digest)).exists():
        raise MaskingChoiceError("It is on the list already.")
    if listed.count() >= MOST_NOT_SECRET:
        raise MaskingChoiceError(f"The list may have {MOST_NOT_SECRET} values.")
    entry = NotSecret.objects.create(
        project=project,
        digest=bytes.fromhex(digest),
        shown=shown,
        why=typed_masker(project).text(why.strip()),
        added_by=user,
    )
    _changed(project, user, request, "no secret", None, _entry_told(entry))
    return entry


def choices_locked(project: Project) -> None:
    """Let one change at a time count the version up."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def version_raise(project: Project) -> None:
    """Let what comes from now on be masked by the choices that are there now."""
    Project.objects.filter(pk=project.pk).update(masking_version=F("masking_version") + 1)
    project.refresh_from_db(fields=["masking_version"])


def _changed(
    project: Project,
    user: User,
    request: HttpRequest | None,
    what: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
) -> None:
    version_raise(project)
    access_record(
        project=project,
        action=AccessAction.SETTINGS,
        user=user,
        request=request,
        detail={
            "masking": what,
            "version": project.masking_version,
            "before": before,
            "after": after,
        },
    )


def _rule_told(rule: MaskRule) -> dict[str, Any]:
    return {
        "name": rule.name,
        "family": rule.family,
        "pattern": str(rule.pattern),
        "must": str(rule.must),
        "must_not": str(rule.must_not),
    }


def _entry_told(entry: NotSecret) -> dict[str, Any]:
    return {"id": entry.pk, "shown": entry.shown, "why": str(entry.why)}


def _unmasked(masker: Masker, text: str, what: str) -> MaskedText:
    """A typed text that must be kept as it is. Raises where masking would change it."""
    try:
        masked = masker.text(text)
    except MaskingError as error:
        raise MaskingChoiceError(f"{what} could not be read.") from error
    if masked != text:
        raise MaskingChoiceError(f"{what} reads like a secret itself.")
    return masked


def _sentence(error: ValueError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
