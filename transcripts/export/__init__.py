"""Ways out: one module a target format, found by folder."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from transcripts.export.base import Exporter

__all__ = ["Exporter", "all_exporters"]


@cache
def all_exporters() -> tuple[Exporter, ...]:
    """Every module's `EXPORTER`, by name."""
    modules = (import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    found = [module.EXPORTER for module in modules if hasattr(module, "EXPORTER")]
    return tuple(sorted(found, key=lambda exporter: exporter.name))
