"""How people look at the run list: views that they keep, and the columns that each of them sees."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from transcripts.choices import Role
from transcripts.fields import MaskedTextField
from transcripts.models import Project, User


class SavedView(models.Model):
    """A state of the run list under a name: filters, order and columns.

    `query` is the list's own query string (`analysis.lists.filters.RunFilter.text`). `shared`: all
    members see it, else its `user` alone. `default_for`: the role whose members see it when they
    open the list; such a view is shared.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    name = MaskedTextField()
    query = MaskedTextField(blank=True)
    columns = models.JSONField(default=list)
    shared = models.BooleanField(default=False)
    default_for = models.CharField(max_length=10, choices=Role, blank=True)

    class Meta:
        ordering = ("project", "name", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "default_for"),
                name="saved_view_one_default",
                condition=~Q(default_for=""),
            ),
            models.CheckConstraint(
                condition=Q(default_for="") | Q(shared=True, default_for__in=Role.values),
                name="saved_view_default_is_shared",
            ),
        )
        indexes = (models.Index(fields=("project", "name"), name="saved_view_by_name"),)

    def __str__(self) -> str:
        return str(self.name)


class ColumnChoice(models.Model):
    """The columns of the run list that one person sees in a project, in the list's own order."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    columns = models.JSONField(default=list)

    class Meta:
        ordering = ("project", "user")
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="column_choice_once"),
        )

    def __str__(self) -> str:
        return f"columns of {self.user_id} in {self.project_id}"
