"""What people write, as HTML: Markdown without HTML, images or scripts of its own."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from analysis.models import Annotation
from analysis.root_causes import ROOT_CAUSE, RootCause
from transcripts.templatetags.transcript import shown

register = template.Library()

# Headings of a note are not headings of the page.
HEADING = "h5"


class NoteRenderer(RendererHTML):
    """Every text goes through `shown`: escaped, with secrets and unseen characters as chips."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return shown(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<code>{shown(tokens[idx].content)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre>{shown(tokens[idx].content)}</pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre>{shown(tokens[idx].content)}</pre>\n"

    def html_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return escape(tokens[idx].content)

    html_inline = html_block

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        tokens[idx].attrs.pop("title", None)
        tokens[idx].attrSet("rel", "noopener noreferrer nofollow")
        return self.renderToken(tokens, idx, options, env)

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        # An alignment would be an inline style, which our policy refuses.
        tokens[idx].attrs.pop("style", None)
        return self.renderToken(tokens, idx, options, env)

    th_open = td_open

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<{HEADING}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</{HEADING}>\n"


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=NoteRenderer)
    markdown.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    markdown.validateLink = _is_web_link  # type: ignore[method-assign]
    return markdown


def _is_web_link(url: str) -> bool:
    return url.lower().startswith(("https://", "http://", "mailto:"))


@register.filter
def as_note(text: str) -> SafeString:
    """A person's Markdown as HTML."""
    env: MutableMapping[str, Any] = {}
    # Every text of it is escaped by NoteRenderer; tags are the renderer's own.
    return SafeString(_markdown().render(str(text), env))


@register.filter
def cause_of(annotation: Annotation) -> RootCause | None:
    """The root cause that an annotation names."""
    return ROOT_CAUSE.get(annotation.cause)
