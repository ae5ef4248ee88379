"""Values that the masking tests share."""

from __future__ import annotations

from transcripts.masking import Masker

KEY = b"a masking key for tests, 32 byte"
GITHUB = "ghp_IqRfN7nCg1sZ4vK9yWbX0aTu8oEhLd2JmPxS"
STRIPE = "sk_live_WTftsfyj9NOILIie0hJTi86n"
PASSWORD = "Orchid.4417"


def a_masker(**change) -> Masker:
    return Masker(**{"key": KEY, "project": "helpdesk", "run": "vpn-20931", **change})


def masked(text: str, **change) -> str:
    """`text` masked by a masker of its own, as a plain string."""
    return str.__str__(a_masker(**change).text(text))


def found(text: str) -> list[str]:
    """The pieces of `text` that are masked."""
    return [text[span.start : span.end] for span in a_masker().spans(text)[1]]
