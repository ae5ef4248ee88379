"""What happened in a run: messages, rounds, calls."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from transcripts.choices import InputKind, StopReason
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models.idents import IDENT_LENGTH, NUMBERED
from transcripts.models.runs import Run


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
    `key` is the sender's own name of the round (a span's id), `ident` a keyed digest of it before
    masking; both are empty where the number is all that the sender gave. What points at a round
    keeps its `pointer`.
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
    key = MaskedTextField(blank=True)
    ident = models.CharField(max_length=IDENT_LENGTH, blank=True)

    class Meta:
        ordering = ("run", "number")
        indexes = (
            models.Index(fields=("run", "ident"), name="round_by_ident", condition=~Q(ident="")),
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

    @property
    def pointer(self) -> str:
        """What finds this round again within its run; see `transcripts.selectors.pointers`."""
        return self.ident or f"{NUMBERED}{self.number}"


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
