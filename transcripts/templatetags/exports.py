"""The formats that a run can leave in."""

from __future__ import annotations

from typing import Any

from django import template

from transcripts.export import all_exporters

register = template.Library()


@register.inclusion_tag("transcripts/_export_menu.html")
def export_menu(slug: str, pk: int) -> dict[str, Any]:
    """A menu of all formats, each with what it cannot hold; the complete one first."""
    exporters = sorted(all_exporters(), key=lambda each: (bool(each.loses), each.name))
    return {"slug": slug, "pk": pk, "exporters": exporters}
