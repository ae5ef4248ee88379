"""People, projects, and who is a member of which."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from transcripts.choices import Role
from transcripts.unseen import name_cleaned


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: object) -> User:
        """Add a person. No password: an unusable one, so that signing in needs a reset or a
        provider.
        """
        fields["name"] = name_cleaned(str(fields.get("name", "")))[:200]
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """One person, known by e-mail address. What they may read is said by memberships alone."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        ordering = ("email",)
        constraints = (models.UniqueConstraint(Lower("email"), name="user_email_ci_unique"),)

    def __str__(self) -> str:
        return self.email

    @property
    def short_name(self) -> str:
        return self.name or self.email.split("@")[0]


class Project(models.Model):
    """One agent system and the people who may read it.

    `masking_version` counts the changes of what it chose about masking; receipts of runs name it.
    """

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    # Nobody sees anything of the project without one.
    require_second_factor = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    masking_version = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role in one project. `restricted`: named as a reader of restricted runs."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.OBSERVER)
    restricted = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("project", "user")
        constraints = (
            models.UniqueConstraint(fields=("project", "user"), name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.project}: {self.role}"
