"""Documents lead to each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]


def links_of(document: Path) -> set[Path]:
    """The files that a document links to."""
    found = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    return {(document.parent / link).resolve() for link in found if "://" not in link}


def test_the_readme_links_every_document() -> None:
    assert set(ROOT.glob("docs/*.md")) - links_of(ROOT / "README.md") == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_link_leads_nowhere(document: Path) -> None:
    assert [link for link in links_of(document) if not link.exists()] == []
