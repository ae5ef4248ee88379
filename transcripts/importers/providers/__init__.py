"""How each model service writes requests, messages and replies; found by folder, like importers."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from transcripts.importers.providers.base import Provider


@cache
def all_providers() -> tuple[Provider, ...]:
    """Every provider module's `PROVIDER`, the more special shapes first."""
    found = [
        import_module(f"{__name__}.{module.name}").PROVIDER
        for module in pkgutil.iter_modules(__path__)
        if module.name != "base"
    ]
    return tuple(sorted(found, key=lambda provider: (-provider.priority, provider.name)))


def provider_of_reply(reply: Any) -> Provider | None:
    """The provider whose reply this is."""
    return next((p for p in all_providers() if p.knows_reply(reply)), None)
