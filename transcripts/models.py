"""What happened: runs as they were recorded, who may read them, and who did."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left, Lower
from django.utils import timezone

from transcripts.choices import (
    AccessAction,
    DeliveryKind,
    DeliveryState,
    Ending,
    InputKind,
    KeyScope,
    Role,
    StopReason,
)
from transcripts.fields import MaskedJSONField, MaskedTextField

# Characters of a message's stand-in: 9 bytes of keyed digest in base64. Two of the 100,000
# messages of a run share one with a probability of 1e-12.
IDENT_LENGTH = 12


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: object) -> User:
        """Add a person. No password: an unusable one, so that signing in needs a reset or a
        provider.
        """
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
    """One agent system and the people who may read it."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)

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


class ApiKey(models.Model):
    """One bearer key of a project. The key itself is shown once; `digest` is its SHA-256 (256
    random bits).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=16)
    digest = models.BinaryField(max_length=32, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    Scope = KeyScope

    class Meta:
        ordering = ("project", "-created_at")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Delivery(models.Model):
    """One accepted request or file. `body` is compressed and sealed; empty once it is stored.

    `id` is the receipt. What is sealed is the content with all that the sender said about it (see
    `transcripts.deliveries`): even a run's id stands in no other column before it is masked.
    `digest` is keyed, of the content as it came, so that an idempotency key cannot stand for two
    contents. `claimed_at` and `attempts` are written by the worker before it opens the body, so
    that a delivery that kills its worker ends in quarantine. `outcome` holds, per run, what was
    new, repeated and replaced; `error` and `error_at` are masked text.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="deliveries", db_index=False)
    api_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    kind = models.CharField(max_length=10, choices=DeliveryKind)
    state = models.CharField(max_length=12, choices=DeliveryState, default=DeliveryState.ACCEPTED)
    format = models.CharField(max_length=40, default="auto")
    idempotency_key = models.BinaryField(max_length=32, null=True)
    digest = models.BinaryField(max_length=16)
    body = models.BinaryField()
    size = models.PositiveBigIntegerField(help_text="Bytes after decompression.")
    received_at = models.DateTimeField(default=timezone.now)
    queued_at = models.DateTimeField(default=timezone.now)
    claimed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = MaskedJSONField(default=dict)
    error = MaskedTextField(blank=True)
    error_at = MaskedTextField(blank=True)

    class Meta:
        ordering = ("-received_at", "-id")
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(fields=("project", "-received_at", "-id"), name="delivery_by_arrival"),
            models.Index(
                fields=("queued_at",),
                name="delivery_waiting",
                condition=Q(state=DeliveryState.ACCEPTED),
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("project", "idempotency_key"), name="delivery_idempotency_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=DeliveryKind.values), name="delivery_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DeliveryState.values), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=(DeliveryState.ACCEPTED, DeliveryState.QUARANTINED))
                | Q(body=b""),
                name="delivery_done_is_empty",
            ),
        )

    def __str__(self) -> str:
        return f"{self.id} ({self.state})"


class Run(models.Model):
    """One agent on one task, first input to last stop. Sums over its rounds are kept here for
    lists.

    `digest` is keyed, of the sender's run id: it finds the run, whatever masking made of the id.
    `title` and `ending` are the sender's, else derived from the rounds (`title_said` and
    `ending_said` tell which). `over`: a whole run or its end was sent, so that more rounds are
    late ones. `quiet`: it is over only because nothing came for long; what comes next reopens it.
    `restricted` is set by the label of that name. `goal_ident` and `ticket_ident` are
    the messages that hold goal and ticket, as `ticket_round` read them: the first round with a
    known input. Durations are in milliseconds, cost is in `currency`. `mask_known` keeps keyed
    digests of values that were found to be secrets, so that they are masked in what comes later.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="runs", db_index=False)
    digest = models.BinaryField(max_length=16)
    run_id = MaskedTextField()
    ticket_id = MaskedTextField(blank=True)
    title = MaskedTextField(blank=True)
    title_said = models.BooleanField(default=False)
    agent = MaskedTextField(blank=True)
    provider = MaskedTextField(blank=True)
    model = MaskedTextField(blank=True)
    prompt_version = MaskedTextField(blank=True)
    code_version = MaskedTextField(blank=True)
    parent_run_id = MaskedTextField(blank=True)
    format = models.CharField(max_length=40)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=16, choices=Ending, default=Ending.OPEN)
    ending_said = models.BooleanField(default=False)
    ending_reason = MaskedTextField(blank=True)
    over = models.BooleanField(default=False)
    quiet = models.BooleanField(default=False)
    currency = MaskedTextField(blank=True)
    context_window = models.PositiveBigIntegerField(null=True, blank=True)
    limits = models.JSONField(default=dict)
    labels = MaskedJSONField(default=list, help_text="Pairs of name and value, by name.")
    tools = MaskedJSONField(default=list, help_text="Name, description and schema of each.")
    notes = MaskedJSONField(default=list)
    restricted = models.BooleanField(default=False)
    goal_ident = models.CharField(max_length=IDENT_LENGTH, blank=True)
    ticket_ident = models.CharField(max_length=IDENT_LENGTH, blank=True)
    ticket_round = models.PositiveIntegerField(null=True, blank=True)
    header_digest = models.BinaryField(max_length=16, default=b"")

    rounds_expected = models.PositiveBigIntegerField(null=True, blank=True)
    round_count = models.PositiveIntegerField(default=0)
    last_round = models.PositiveIntegerField(default=0)
    tail_size = models.IntegerField(null=True, default=0)
    has_messages = models.BooleanField(default=False)
    call_count = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_out = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_cached = models.PositiveBigIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=24, decimal_places=10, null=True, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    unanswered = models.PositiveIntegerField(default=0)
    unlabelled = models.PositiveIntegerField(default=0)
    orphan_count = models.PositiveIntegerField(default=0)
    folded = models.PositiveIntegerField(default=0)
    replaced = models.PositiveIntegerField(default=0)
    late = models.PositiveIntegerField(default=0)
    completeness = models.JSONField(default=dict)

    mask_rule_set = models.CharField(max_length=60)
    mask_hits = models.JSONField(default=dict)
    mask_known = models.JSONField(default=dict)
    received_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-received_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="run_once"),
            models.CheckConstraint(condition=Q(ending__in=Ending.values), name="run_ending_known"),
        )
        indexes = (
            models.Index(fields=("project", "-received_at", "-id"), name="run_by_arrival"),
            models.Index(Left("ticket_id", 200), "project", name="run_by_ticket"),
            models.Index(
                fields=("updated_at",), name="run_still_open", condition=Q(ending=Ending.OPEN)
            ),
        )

    def __str__(self) -> str:
        return str(self.run_id)


class OpenTrace(models.Model):
    """The spans of one trace while more of them may come: what its runs are put together from.

    `digest` is keyed, of the run's id. `seen_at` is when the last spans came, `due_at` when the
    runs are to be put together again with what has come since, null where nothing has.
    `closed_at`: the root span came (`has_root`), or nothing for a while. `bases` holds, by the hex
    digest of a run, how many rounds it had before: what comes after its spans were put away stands
    after them.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16)
    seen_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(null=True, blank=True)
    assembled_at = models.DateTimeField(null=True, blank=True)
    took_ms = models.FloatField(default=0)
    closed_at = models.DateTimeField(null=True, blank=True)
    has_root = models.BooleanField(default=False)
    span_count = models.PositiveBigIntegerField(default=0)
    folded = models.PositiveIntegerField(default=0)
    late = models.PositiveIntegerField(default=0)
    bases = models.JSONField(default=dict)

    class Meta:
        ordering = ("seen_at", "pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "digest"), name="open_trace_once"),
        )
        indexes = (
            models.Index(fields=("due_at",), name="open_trace_due"),
            models.Index(fields=("seen_at",), name="open_trace_idle"),
        )

    def __str__(self) -> str:
        return f"trace {self.pk} ({self.span_count} spans)"


class SpanChunk(models.Model):
    """Spans of a trace that came together, compressed and sealed like a delivery's body.

    `digest` is keyed, of the spans, so that the same request sent again adds nothing. The body is
    empty where the spans stand in another chunk of the trace by now.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    trace = models.ForeignKey(OpenTrace, models.CASCADE, related_name="chunks", db_index=False)
    digest = models.BinaryField(max_length=16)
    body = models.BinaryField()
    span_count = models.PositiveIntegerField()

    class Meta:
        ordering = ("trace", "id")
        constraints = (models.UniqueConstraint(fields=("trace", "digest"), name="span_chunk_once"),)

    def __str__(self) -> str:
        return f"{self.span_count} spans of trace {self.trace_id}"


class Message(models.Model):
    """One message of what a run's model read, kept once.

    `ident` stands for it in the inputs of rounds: a keyed digest of its role and content, or of the
    sender's key where the sender named it (`key`). `digest` is keyed, of the content before
    masking, in the form in which a round's reply and a call's result have one too: where they are
    the same, `reply_of`, or `result_round` and `result_index`, say so and the content is empty.
    """

    pk = models.CompositePrimaryKey("run_id", "ident")
    run = models.ForeignKey(Run, models.CASCADE, related_name="messages", db_index=False)
    ident = models.CharField(max_length=IDENT_LENGTH)
    digest = models.CharField(max_length=IDENT_LENGTH, blank=True)
    key = MaskedTextField(blank=True)
    role = MaskedTextField()
    content = MaskedTextField(blank=True)
    name = MaskedTextField(blank=True)
    call_id = MaskedTextField(blank=True)
    reply_of = models.PositiveIntegerField(null=True, blank=True)
    result_round = models.PositiveIntegerField(null=True, blank=True)
    result_index = models.PositiveIntegerField(null=True, blank=True)
    opaque = MaskedJSONField(default=list)

    class Meta:
        ordering = ("run", "ident")
        indexes = (
            models.Index(
                fields=("run", "digest"),
                name="message_by_text",
                condition=Q(reply_of=None, result_round=None) & ~Q(digest=""),
            ),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(reply_of=None) | Q(result_round=None), name="message_repeats_one"
            ),
            models.CheckConstraint(
                condition=Q(result_round=None, result_index=None)
                | Q(result_round__gte=1, result_index__gte=0),
                name="message_result_whole",
            ),
        )

    def __str__(self) -> str:
        return f"message {self.ident} of run {self.run_id}"


class Round(models.Model):
    """One model request, its reply, and why it stopped.

    `digest` is keyed, of the content before masking, `reply_digest` of the reply as a message.
    `added` and `dropped` change an input: lists of [position or null, message ident]; `input_kind`
    says which. `input_size` counts the messages that the model read, null where that is not known.
    """

    pk = models.CompositePrimaryKey("run_id", "number")
    run = models.ForeignKey(Run, models.CASCADE, related_name="rounds", db_index=False)
    number = models.PositiveIntegerField()
    stop = models.CharField(max_length=12, choices=StopReason)
    stop_raw = MaskedTextField(null=True, blank=True)
    reply = MaskedTextField(blank=True)
    reasoning = MaskedTextField(blank=True)
    input_kind = models.CharField(max_length=6, choices=InputKind, blank=True)
    input_size = models.PositiveIntegerField(null=True, blank=True)
    added = models.JSONField(default=list)
    dropped = models.JSONField(default=list)
    tokens_in = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_out = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_cached = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_reasoning = models.PositiveBigIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=24, decimal_places=10, null=True, blank=True)
    model = MaskedTextField(blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    error = MaskedTextField(blank=True)
    orphans = MaskedJSONField(default=list)
    opaque = MaskedJSONField(default=list)
    call_count = models.PositiveIntegerField(default=0)
    unanswered = models.PositiveIntegerField(default=0)
    digest = models.BinaryField(max_length=16)
    reply_digest = models.CharField(max_length=IDENT_LENGTH, blank=True)

    class Meta:
        ordering = ("run", "number")
        indexes = (
            models.Index(
                fields=("run", "reply_digest"),
                name="round_by_reply",
                condition=~Q(reply_digest=""),
            ),
        )
        constraints = (
            models.CheckConstraint(condition=Q(number__gte=1), name="round_number_from_1"),
            models.CheckConstraint(
                condition=Q(stop__in=StopReason.values), name="round_stop_known"
            ),
            models.CheckConstraint(
                condition=Q(input_kind__in=InputKind.values), name="round_input_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"round {self.number} of run {self.run_id}"


class ToolCall(models.Model):
    """One tool call of a round and its result; `result` NULL is unanswered, "" is empty.

    `is_error` NULL: the format carries no flag. `index` counts from 0 within the round.
    `result_digest` is keyed, of the result as a message, before masking.
    """

    pk = models.CompositePrimaryKey("run_id", "round_number", "index")
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls", db_index=False)
    round_number = models.PositiveIntegerField()
    index = models.PositiveIntegerField()
    call_id = MaskedTextField(blank=True)
    name = MaskedTextField(blank=True)
    args = MaskedTextField(blank=True)
    result = MaskedTextField(null=True, blank=True)
    is_error = models.BooleanField(null=True, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    joined = models.CharField(max_length=8, blank=True)
    sub_run = MaskedTextField(blank=True)
    result_digest = models.CharField(max_length=IDENT_LENGTH, blank=True)

    class Meta:
        ordering = ("run", "round_number", "index")
        indexes = (
            models.Index(
                fields=("run", "result_digest"),
                name="call_by_result",
                condition=~Q(result_digest=""),
            ),
            models.Index(
                fields=("run", "round_number", "index"),
                name="call_unanswered",
                condition=Q(result=None),
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} in round {self.round_number} of run {self.run_id}"


class AccessEntry(models.Model):
    """One line of the audit log: who read or changed what, when, from where. A trigger refuses
    changes.

    Holds no foreign keys, so that it outlives what it tells of. `who` is an e-mail address or a
    key's name and prefix; `what` names the thing, never its content.
    """

    project_id = models.BigIntegerField(null=True)
    at = models.DateTimeField(default=timezone.now)
    user_id = models.BigIntegerField(null=True)
    api_key_id = models.BigIntegerField(null=True)
    who = models.CharField(max_length=300)
    action = models.CharField(max_length=12, choices=AccessAction)
    what = MaskedTextField()
    run_pk = models.BigIntegerField(null=True)
    address = models.GenericIPAddressField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-at", "-pk")
        verbose_name_plural = "access entries"
        indexes = (
            models.Index(fields=("project_id", "-at"), name="access_by_project"),
            models.Index(fields=("run_pk", "-at"), name="access_by_run"),
        )

    def __str__(self) -> str:
        return f"{self.who} {self.action} {self.what}"
