"""AutoGen AgentChat: a task result, a saved agent, or a list of messages and events."""

from typing import Any

from transcripts.importers.conversation import importer_of
from transcripts.importers.providers.autogen import PROVIDER


def _inner(value: Any) -> Any:
    """A saved agent keeps its messages in `llm_context`."""
    if isinstance(value, dict) and isinstance(value.get("llm_context"), dict):
        return value["llm_context"]
    return value


IMPORTER = importer_of("autogen", PROVIDER, priority=42, inner=_inner)
