"""The reading of one request after another, each of which repeats the conversation so far.

What a request repeats of the one before it is not read again, so that the work grows with what is
new in it.
"""

from __future__ import annotations

from typing import Any

from transcripts.importers.building import RunBuilder
from transcripts.importers.providers import all_providers
from transcripts.importers.providers.base import Provider, Request
from transcripts.importers.turns import Turn

_TOOL_FIELDS = ("tools", "functions")


class RequestReader:
    """Reads requests in any provider's shape, and tells a builder what each round read."""

    def __init__(self, builder: RunBuilder) -> None:
        self._builder = builder
        self._provider: Provider | None = None
        self._before: dict[str, Any] = {}
        self._head: list[Turn] = []

    def ask(self, value: Any, number: int) -> tuple[Request, str] | None:
        """Take the request of round `number`: what is new in it, and the provider's name; None
        where no provider knows it.

        Tools that are offered again are not told again.
        """
        provider = self._provider
        if provider is not None and (found := self._only_new(provider, value)) is not None:
            request, kept = found
            self._builder.ask(request.turns, number, kept=kept)
            self._before = value
            return request, provider.name
        self._provider = None
        provider = next((p for p in all_providers() if p.knows_request(value)), None)
        if provider is None:
            return None
        request = provider.read_request(value)
        self._builder.ask(request.turns, number, continues=request.continues)
        messages = value.get(provider.messages_field)
        if provider.knows_message is not None and isinstance(messages, list):
            self._provider, self._before = provider, value
            self._head = request.turns[: len(request.turns) - len(messages)]
        return request, provider.name

    def _only_new(self, provider: Provider, value: Any) -> tuple[Request, int] | None:
        """The request without what it repeats, and how many turns those are."""
        messages = value.get(provider.messages_field) if isinstance(value, dict) else None
        if provider.knows_message is None or not isinstance(messages, list):
            return None
        before = self._before[provider.messages_field]
        same = len(self._head) + _common(before, messages)
        kept = self._builder.repeated(same) - len(self._head)
        if kept <= 0:
            return None
        told = {k for k in _TOOL_FIELDS if k in value and value[k] == self._before.get(k)}
        new = {k: v for k, v in value.items() if k not in told}
        new[provider.messages_field] = messages[kept:]
        if not all(map(provider.knows_message, messages[kept:])) or _is_of_another(provider, new):
            return None
        request = provider.read_request(new)
        head = len(request.turns) - len(messages[kept:])
        if request.turns[:head] != self._head:
            return None
        request.turns = request.turns[head:]
        return request, head + kept


def _common(before: list[Any], now: list[Any]) -> int:
    """How many messages at the head of both are the same."""
    count = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        count += 1
    return count


def _is_of_another(provider: Provider, value: dict[str, Any]) -> bool:
    """Whether a provider that is asked earlier knows the new part for its own."""
    for other in all_providers():
        if other is provider:
            return False
        if other.knows_request(value):
            return True
    return False
