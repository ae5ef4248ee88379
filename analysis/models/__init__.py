"""What we think of runs: verdicts and findings, limits, and jobs over many runs."""

from analysis.models.jobs import Job, JobKind, JobState
from analysis.models.limits import LearnedBaseline, LimitSet
from analysis.models.verdicts import Finding, Verdict

__all__ = ["Finding", "Job", "JobKind", "JobState", "LearnedBaseline", "LimitSet", "Verdict"]
