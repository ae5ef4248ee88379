"""Test cases, how they were changed, and what became of them when they were replayed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from analysis.models.incidents import Incident
from transcripts.fields import MaskedJSONField, MaskedTextField
from transcripts.models import ApiKey, Project, Run, User


class TestCase(models.Model):
    """A masked run of a project and what must hold when it is replayed: `CASE-<number>`.

    `key` is the `case_id` that its file carries. `recording` is the run in the native format, as
    JSON text; what must hold is in its latest revision. The text of a run outlives the run here:
    `run` is emptied when that is erased. A deleted case can be brought back for a day; then its
    texts go, and its number stays taken.
    """

    # pytest takes classes by this name for tests.
    __test__ = False

    project = models.ForeignKey(Project, models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    key = MaskedTextField()
    title = MaskedTextField(blank=True)
    agent = MaskedTextField(blank=True)
    schema = models.CharField(max_length=40)
    recording = MaskedTextField()
    rounds = models.PositiveIntegerField()
    mask_rule_set = models.CharField(max_length=80, blank=True)
    mask_hits = models.JSONField(default=dict)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="cases")
    restricted = models.BooleanField(default=False)
    incident = models.ForeignKey(
        Incident, models.SET_NULL, null=True, blank=True, related_name="cases"
    )
    author = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    revision = models.PositiveIntegerField(default=1)
    accepted = models.ForeignKey(
        "CaseResult", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("project", "-number")
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="case_number_once"),
            models.UniqueConstraint(fields=("project", "key"), name="case_key_once"),
        )
        indexes = (
            models.Index(fields=("deleted_at",), name="case_deleted", condition=~Q(recording="")),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its short id, as people say it."""
        return f"CASE-{self.number}"


class CaseRevision(models.Model):
    """One state of a case: what must hold, branches, mocks, script, limits, title and notes.

    `definition` is JSON text of these. `digest` is the SHA-256 of the whole case's canonical JSON,
    by which a result says what it was a result of.
    """

    case = models.ForeignKey(TestCase, models.CASCADE, related_name="revisions", db_index=False)
    number = models.PositiveIntegerField()
    definition = MaskedTextField()
    digest = models.CharField(max_length=64)
    author = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("case", "-number")
        constraints = (
            models.UniqueConstraint(fields=("case", "number"), name="case_revision_once"),
        )

    def __str__(self) -> str:
        return f"revision {self.number} of case {self.case_id}"


class ResultState(models.TextChoices):
    """What a result says: as many runs passed as must, or fewer."""

    PASSED = "passed", "passed"
    FAILED = "failed", "failed"


class ResultSource(models.TextChoices):
    """What a result was sent as."""

    HARNESS = "harness", "the harness's own result"
    JUNIT = "junit", "JUnit XML"


class CaseResult(models.Model):
    """What became of a case when it was replayed once or many times, as somebody's CI said.

    The version is prompt, model and code together. `revision` is the state of the case that was
    replayed, None where it is none of ours. `expectations` holds for each {id, kind, text, state,
    runs, passed, not_judged, why}; `troubles` the first failed runs as {run, seed, ending, rounds,
    why, failed}; `endings` counts runs by ending. Costs are in the run's currency, times in
    seconds. `digest` is a keyed one of what was sent: the same again is the same result.
    """

    case = models.ForeignKey(TestCase, models.CASCADE, related_name="results", db_index=False)
    digest = models.BinaryField(max_length=16)
    source = models.CharField(max_length=10, choices=ResultSource)
    revision = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=ResultState)
    runs = models.PositiveIntegerField()
    passed = models.PositiveIntegerField()
    required = models.FloatField(default=1.0)
    prompt_version = MaskedTextField(blank=True)
    model_version = MaskedTextField(blank=True)
    code_version = MaskedTextField(blank=True)
    agent = MaskedTextField(blank=True)
    model = MaskedTextField(blank=True)
    from_round = models.PositiveIntegerField(null=True, blank=True)
    temperature = models.FloatField(null=True, blank=True)
    seed = models.BigIntegerField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    cost = models.FloatField(null=True, blank=True)
    expectations = MaskedJSONField(default=list)
    divergence = MaskedJSONField(null=True, blank=True)
    troubles = MaskedJSONField(default=list)
    endings = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(default=timezone.now)
    api_key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("case", "-received_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("case", "digest"), name="case_result_once"),
            models.CheckConstraint(
                condition=Q(passed__lte=models.F("runs")) & Q(runs__gte=1),
                name="case_result_counts",
            ),
            models.CheckConstraint(
                condition=Q(state__in=ResultState.values), name="case_result_state_known"
            ),
        )
        indexes = (
            models.Index(fields=("case", "-received_at", "-id"), name="case_result_by_arrival"),
        )

    def __str__(self) -> str:
        return f"{self.passed} of {self.runs} of case {self.case_id}"


class CaseReplay(models.Model):
    """What was said in one run of a result: the run's number there, and its transcript.

    `transcript` is that run in the native format, as JSON text; `left_out` is how many characters
    one had that was too long to be kept. It is no run of the project: it stands in no list, figure
    or incident, and goes with its result.
    """

    result = models.ForeignKey(CaseResult, models.CASCADE, related_name="replays", db_index=False)
    run = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=ResultState)
    rounds = models.PositiveIntegerField(default=0)
    transcript = MaskedTextField(blank=True)
    left_out = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("result", "run")
        constraints = (models.UniqueConstraint(fields=("result", "run"), name="case_replay_once"),)

    def __str__(self) -> str:
        return f"run {self.run} of result {self.result_id}"
