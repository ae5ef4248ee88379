"""The detectors: one rule a module, found by folder.

A module of this folder holds a detector when it has a `Detector` of its own name. Others (`base`,
`limits`) hold none; packages are passed over.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from analysis.detectors.base import Detector


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Every detector, by rank and name."""
    found = []
    for module_info in iter_modules(__path__):
        if module_info.ispkg:
            continue
        module = import_module(f"{__name__}.{module_info.name}")
        candidate = getattr(module, module_info.name, None)
        if isinstance(candidate, Detector):
            found.append(candidate)
    return tuple(sorted(found, key=lambda detector: (detector.rank, detector.name)))


def detector_named(name: str) -> Detector | None:
    """The detector of that name, or None."""
    return next((detector for detector in all_detectors() if detector.name == name), None)
