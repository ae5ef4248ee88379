"""What a project chose about masking, as maskers take it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from transcripts.masking import Options, own_rule
from transcripts.masking.options import DEFAULT
from transcripts.masking.rulefiles import rule_set
from transcripts.models import MaskingChoice, MaskRule, NotSecret, Project


@dataclass(frozen=True)
class Choices:
    """A project's options, and the keyed digests of values that are no secrets to it."""

    options: Options = DEFAULT
    allowed: frozenset[str] = frozenset()


def project_choices(project: Project) -> Choices:
    """The choices of the project's masking version. No query where it was asked for before."""
    if not project.masking_version:
        return Choices()
    return _choices(project.pk, project.masking_version)


def project_rule_set(project: Project) -> str:
    """The rule set that the project's runs are masked by now."""
    version = project.masking_version
    return f"{rule_set()}+{version}" if version else rule_set()


@lru_cache(maxsize=64)
def _choices(project_pk: int, version: int) -> Choices:
    # A change that is committed after the project was read is taken in under the version before;
    # the next delivery names its own.
    choice = MaskingChoice.objects.filter(project=project_pk).first() or MaskingChoice()
    rules = MaskRule.objects.filter(project=project_pk).order_by("pk")
    options = Options(
        card=choice.card,
        iban=choice.iban,
        email=choice.email,
        phone=choice.phone,
        names=frozenset(str(name) for name in choice.names),
        rules=tuple(own_rule(rule.name, str(rule.pattern), rule.family) for rule in rules),
        version=str(version),
    )
    digests = NotSecret.objects.filter(project=project_pk).values_list("digest", flat=True)
    return Choices(options, frozenset(bytes(digest).hex() for digest in digests))
