"""Stretches of time that figures are told of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.utils import timezone

CHOICES = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("all", "all time"))
DEFAULT = "30"


@dataclass(frozen=True)
class Window:
    """The last days, or all time. `since` is None for all time."""

    choice: str

    @classmethod
    def of(cls, asked: str) -> Window:
        """What was asked for, else the default."""
        return cls(asked if asked in dict(CHOICES) else DEFAULT)

    @property
    def since(self) -> datetime | None:
        if self.choice == "all":
            return None
        return timezone.now() - timedelta(days=int(self.choice))

    def runs_query(self, agent: str) -> str:
        """The beginning of a query of the run list: what came in since, of an agent. Ends with &
        where it says anything.
        """
        since = {} if self.since is None else {"since": f"{self.choice}d"}
        query = urlencode({**since, **({"agent": agent} if agent else {})})
        return f"{query}&" if query else ""

    @property
    def words(self) -> str:
        return dict(CHOICES)[self.choice]
