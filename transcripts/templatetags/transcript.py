"""Transcript text on a page: hostile input, shown as text and nothing else.

`shown` is the one way from a transcript's text to HTML. What has no shape of its own (control,
zero-width,
bidirectional and other format characters) gets one, and a masked secret is a chip.
"""

from __future__ import annotations

import re
import unicodedata

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from transcripts.json_tree import Node, json_node
from transcripts.places import place_in_words
from transcripts.text_index.places import spans_of
from transcripts.unseen import UNSEEN

register = template.Library()

# Enough to see what a text does; past it the rest is shown as plain ⟦U+200B⟧, so that a text made
# of
# nothing but control characters cannot grow the page without bound.
MAX_CHIPS = 60

SECRET = r"\[SECRET:(?P<family>[a-z0-9_.-]{1,60}):(?P<id>[0-9a-f]{8})\]"
# A placeholder that was cut off where its text is.
CUT = r"\[SECRET:(?P<cut>[a-z0-9_.-]{0,60})(?::[0-9a-f]{0,7})?\Z"
SPECIAL = re.compile(f"{SECRET}|{CUT}|(?P<unseen>{UNSEEN})")
# Marks of chips, so that the eye finds the same secret again; its id says it in letters.
HUES = 8


@register.filter
def shown(value: object) -> SafeString:
    """Transcript text as HTML: escaped, with unseen characters and masked secrets made visible."""
    text = str(value)
    parts: list[str] = []
    at = 0
    for chips, match in enumerate(SPECIAL.finditer(text)):
        parts.append(escape(text[at : match.start()]))
        parts.append(_chip(match, plain=chips >= MAX_CHIPS))
        at = match.end()
    parts.append(escape(text[at:]))
    # Every part is escaped above, or made by format_html.
    return mark_safe("".join(parts))


@register.filter
def in_plain(value: object) -> str:
    """Transcript text for a title or an attribute: no markup, unseen characters as ⟦U+200B⟧."""
    return SPECIAL.sub(_plain_chip, str(value))


@register.filter
def place(at: object) -> SafeString:
    """Where in what was sent something stands, in words; the JSON path stays as the title."""
    words = place_in_words(str(at))
    if words == str(at):
        return shown(at)
    return format_html('<span title="{}">{}</span>', in_plain(at), shown(words))


def _plain_chip(match: re.Match[str]) -> str:
    character = match["unseen"]
    if character is None:
        return f"⟦secret: {match['family'] or match['cut']} {match['id'] or '…'}⟧"
    return f"⟦U+{ord(character):04X}⟧"


def _chip(match: re.Match[str], *, plain: bool) -> str:
    character = match["unseen"]
    if plain:
        return escape(match[0] if character is None else _plain_chip(match))
    if character is None:
        family, ident = match["family"] or match["cut"], match["id"] or "…"
        hue = int(match["id"], 16) % HUES if match["id"] else 0
        # What is copied of a page is the placeholder; what is seen of it are kind and id.
        return format_html(
            '<span class="secret hue{}" data-secret="{}" title="{}"><i>[SECRET:</i>{}<i>:</i>'
            "<b>{}</b><i>]</i></span>",
            hue,
            match["id"] or "",
            f"A secret ({family}) was masked here before it was stored; the same number is the "
            "same secret",
            family,
            ident,
        )
    return format_html(
        '<span class="ctl" title="{}">U+{}</span>',
        unicodedata.name(character, "control character").lower(),
        f"{ord(character):04X}",
    )


@register.filter
def json_shown(value: str) -> SafeString | str:
    """JSON text as a tree that is folded by depth; text that is no JSON object or list as plain
    text.
    """
    node = json_node(value)
    return shown(value) if node is None else _node_html(node, depth=0)


def _node_html(node: Node, *, depth: int) -> SafeString:
    key = format_html('<span class="k">{}</span>: ', shown(node.key)) if node.key else ""
    if not node.children:
        return format_html("{}{}", key, shown(node.text))
    rows = [
        format_html("<li>{}</li>", _node_html(child, depth=depth + 1)) for child in node.children
    ]
    if node.left_out:
        rows.append(format_html('<li class="soft">{} more, not shown</li>', node.left_out))
    return format_html(
        "<details{}><summary>{}{}</summary><ul>{}</ul></details>",
        mark_safe(" open") if depth == 0 else "",
        key,
        shown(node.text),
        mark_safe("".join(rows)),
    )


@register.filter
def heard_role(role: str) -> str:
    """A message's role as people read it."""
    return {
        "system": "goal and rules",
        "developer": "goal and rules",
        "user": "person",
        "assistant": "model",
    }.get(role, role)


@register.filter
def state_words(state: str) -> str:
    """What became of a call, for who may not read its text."""
    return {
        "text": "a result",
        "error": "an error",
        "empty": "nothing came back",
        "unanswered": "unanswered",
        "waiting": "no answer yet",
        "removed": "a result, removed since",
    }.get(state, state)


@register.filter
def marked(value: str, words: str) -> SafeString:
    """Transcript text with each place of `words` marked, whatever their case and accents."""
    parts: list[str] = []
    at = 0
    # A chip is marked as a whole: words within it would tear it apart.
    for chip in re.finditer(SECRET, value):
        parts.append(_marked(value[at : chip.start()], words))
        hit = next(spans_of(chip[0], words), None)
        parts.append(format_html("<mark>{}</mark>", shown(chip[0])) if hit else shown(chip[0]))
        at = chip.end()
    parts.append(_marked(value[at:], words))
    # Every part is escaped by shown.
    return mark_safe("".join(parts))


def _marked(text: str, words: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans_of(text, words):
        parts += [shown(text[at:start]), format_html("<mark>{}</mark>", shown(text[start:end]))]
        at = end
    return "".join([*parts, shown(text[at:])])


@register.filter
def delivery_tone(state: str) -> str:
    """The colour class of a delivery's state."""
    return {"accepted": "live", "stored": "good", "quarantined": "bad"}.get(state, "quiet")
