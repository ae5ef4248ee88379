"""The columns of the run list. What happened and the ticket stand in each."""

from __future__ import annotations

from collections.abc import Iterable

COLUMNS = {
    "rounds": "Rounds",
    "cost": "Cost",
    "incident": "Incident",
    "owner": "Owner",
    "when": "Came in",
    "agent": "Agent",
    "model": "Model",
    "prompt": "Prompt",
    "code": "Code",
    "labels": "Labels",
    "tokens": "Tokens",
    "wasted": "Wasted",
    "lasted": "Time",
}
DEFAULT = ("rounds", "cost", "incident", "owner", "when")
NUMBERS = frozenset({"cost", "tokens", "wasted", "lasted"})


def known_columns(names: Iterable[str]) -> list[str]:
    """Those of the names that are columns, in the list's own order."""
    wanted = set(names)
    return [name for name in COLUMNS if name in wanted]
