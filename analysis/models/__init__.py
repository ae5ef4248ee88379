"""What we think of runs: verdicts, findings, incidents, limits, what people decided, and jobs."""

from analysis.models.alerts import (
    AlertChannel,
    AlertKind,
    AlertMessage,
    AlertRule,
    ChannelKind,
    MessageState,
)
from analysis.models.annotations import Annotation, AnnotationKind, AnnotationVersion, Mention
from analysis.models.cases import (
    CaseReplay,
    CaseResult,
    CaseRevision,
    ResultSource,
    ResultState,
    TestCase,
)
from analysis.models.incidents import (
    Fingerprint,
    Incident,
    IncidentEvent,
    IncidentRun,
    IncidentState,
    Priority,
)
from analysis.models.jobs import Job, JobKind, JobNote, JobState
from analysis.models.limits import LearnedBaseline, LimitSet
from analysis.models.lists import ColumnChoice, SavedView
from analysis.models.tools import ToolUse
from analysis.models.triage import RunTriage
from analysis.models.verdicts import Finding, Verdict
from analysis.models.versions import SeenVersion, VersionKind

__all__ = [
    "AlertChannel",
    "AlertKind",
    "AlertMessage",
    "AlertRule",
    "Annotation",
    "AnnotationKind",
    "AnnotationVersion",
    "CaseReplay",
    "CaseResult",
    "CaseRevision",
    "ChannelKind",
    "ColumnChoice",
    "Finding",
    "Fingerprint",
    "Incident",
    "IncidentEvent",
    "IncidentRun",
    "IncidentState",
    "Job",
    "JobKind",
    "JobNote",
    "JobState",
    "LearnedBaseline",
    "LimitSet",
    "Mention",
    "MessageState",
    "Priority",
    "ResultSource",
    "ResultState",
    "RunTriage",
    "SavedView",
    "SeenVersion",
    "TestCase",
    "ToolUse",
    "Verdict",
    "VersionKind",
]
