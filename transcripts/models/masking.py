"""What a project chose about masking."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models.people import Project, User


class MaskingChoice(models.Model):
    """Which personal data a project masks besides secrets. A project without a row: the defaults.

    `names` are names of keys, in lower case, whose values are always masked. Every change of it, of
    a rule or of the allow-list raises `Project.masking_version`.
    """

    project = models.OneToOneField(
        Project, models.CASCADE, primary_key=True, related_name="masking_choice"
    )
    card = models.BooleanField(default=True)
    iban = models.BooleanField(default=True)
    email = models.BooleanField(default=False)
    phone = models.BooleanField(default=False)
    names = MaskedJSONField(default=list)

    class Meta:
        ordering = ("project",)

    def __str__(self) -> str:
        return f"masking of {self.project_id}"


class MaskRule(models.Model):
    """A rule of a project's own: a pattern in re2 syntax, whose group 1 is the secret, if any.

    The examples are kept as masked text: what the rule found in the first is a placeholder there.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="mask_rules")
    name = models.SlugField(max_length=40)
    family = models.SlugField(max_length=40)
    pattern = MaskedTextField()
    must = MaskedTextField()
    must_not = MaskedTextField()
    changed_at = models.DateTimeField(default=timezone.now)
    changed_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ("project", "name")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="mask_rule_name_once"),
        )

    def __str__(self) -> str:
        return self.name


class NotSecret(models.Model):
    """A value that is no secret to a project, known by a keyed digest alone.

    `shown` is how it was put on the list: the family of the placeholder, or "typed".
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="not_secrets")
    digest = models.BinaryField(max_length=16)
    shown = models.CharField(max_length=60)
    why = MaskedTextField()
    added_at = models.DateTimeField(default=timezone.now)
    added_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ("-added_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="not_secret_once"),
        )

    def __str__(self) -> str:
        return f"no secret: {self.shown}"
