"""Which part of a page an htmx request gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    """A request that has been through `HtmxMiddleware`; for annotations only."""

    htmx: HtmxDetails


def is_swap(request: HttpRequest) -> bool:
    """Whether htmx asks for a fragment. Boosted links and history restores swap the whole body."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def template_for(request: HttpRequest, page: str, partial: str) -> str:
    """`page#partial` for an htmx swap, `page` otherwise."""
    return f"{page}#{partial}" if is_swap(request) else page
