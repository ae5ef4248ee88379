"""The scanning engine: kingfisher's rules and our own, in this process, offline.

Only its scanning is used. Its validators would send secrets to their providers, and its
fingerprints and blob ids are unkeyed digests of secrets.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from transcripts.masking.budget import Budget
from transcripts.masking.errors import MaskingError, OutOfTimeError
from transcripts.masking.spans import Hit, Rank
from transcripts.masking.values import is_stand_in

RULES: Final = Path(__file__).parent / "rules" / "engine.yml"
# Where the compiled rules are kept: they hold no content, only rules.
CACHE_VARIABLE: Final = "AGENTDESK_RULE_CACHE"
# Punctuation that code scanners do not take as the end of a token. A dot is one only at a
# sentence's end.
SHADOWED: Final = bytes.maketrans(b"<>&,()|[]{}", b" " * 11)
SENTENCE_DOT: Final = re.compile(rb"[.!?:;](?=[\s\"']|$)")
NAMESPACE: Final = re.compile(
    r"^(?:betterleaks|kingfisher|agentdesk|veles|custom)[./](?:secrets/)?"
)
NOT_FAMILY: Final = re.compile(r"[^a-z0-9]+")

_lock = threading.Lock()
_scanner: Any = None


def cache_folder() -> Path:
    """The folder of compiled rules: `AGENTDESK_RULE_CACHE`, else under the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agentdesk" / "rules"


def load() -> Any:
    """The scanner, compiled on first use and kept for the process; forked children inherit it.

    Raises `MaskingError` when the rules cannot be loaded: nothing can be masked then.
    """
    global _scanner
    if _scanner is None:
        with _lock:
            if _scanner is None:
                _scanner = _compiled()
    return _scanner


def _compiled() -> Any:
    try:
        from kingfisher_sdk import Rules, Scanner

        folder = cache_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            cached = True
        except OSError:
            cached = False  # a read-only home costs seconds at each start, and nothing else
        rules = Rules([RULES], confidence="low", cache=cached, cache_dir=folder if cached else None)
        # Base64 is undone by `encoded`, which masks the whole blob and reads UTF-16 too.
        return Scanner(rules, base64=False)
    except Exception as error:
        raise MaskingError(f"the masking rules cannot be loaded: {type(error).__name__}") from error


def _unlock() -> None:
    global _lock
    _lock = threading.Lock()


# A child that is forked while another thread loads the rules would wait for that thread for ever.
os.register_at_fork(after_in_child=_unlock)


def scan(text: bytes, budget: Budget) -> Iterator[Hit]:
    """Secrets in `text`, an ASCII copy with one byte a character, as it is and as its shadow copy.

    Raises `OutOfTimeError` past the budget, `MaskingError` when the engine fails.
    """
    yield from _scan_once(text, budget)
    shadow = SENTENCE_DOT.sub(b" ", text.translate(SHADOWED))
    if shadow != text:
        yield from _scan_once(shadow, budget)


def _scan_once(text: bytes, budget: Budget) -> Iterator[Hit]:
    scanner = load()
    try:
        findings = scanner.scan(text, timeout=budget.wall_seconds())
    except TimeoutError as error:
        raise OutOfTimeError from error
    except Exception as error:
        # The engine's message may quote the text, so it does not go on.
        raise MaskingError(f"the scanning engine failed: {type(error).__name__}") from None
    for finding in findings:
        if not finding.visible:
            continue
        place = finding.location
        rule = finding.rule_id
        start, end = place["start_offset"], place["end_offset"]
        if "generic" in rule and is_stand_in(text[start:end].decode("ascii")):
            continue
        yield Hit(start, end, rule, family_of(rule), Rank.FORMAT)


@cache
def family_of(rule: str) -> str:
    """The family that a placeholder shows: of rule `betterleaks.github-pat` it is `github-pat`."""
    name = NAMESPACE.sub("", rule).lower()
    return NOT_FAMILY.sub("-", name).strip("-")[:40].strip("-") or "token"
