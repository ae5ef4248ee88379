"""LangChain messages and LangGraph state: a list of messages, or an object that holds one."""

from typing import Any

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.langchain import PROVIDER

# Where LangGraph keeps the state: snapshots, checkpoints, and the results of a deployed graph.
_STATE_KEYS = ("values", "channel_values", "checkpoint", "output")


def _inner(value: Any) -> Any:
    for key in _STATE_KEYS:
        while (
            isinstance(value, dict) and "messages" not in value and isinstance(value.get(key), dict)
        ):
            value = value[key]
    return value


IMPORTER = importer_of("langchain", PROVIDER, priority=40, inner=_inner)
