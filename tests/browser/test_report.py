"""The run page on paper: what the browser prints of it is an incident report."""

from __future__ import annotations

import io
import unicodedata
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.page_runs import a_long_run
from transcripts.models import Project, Run

pytestmark = pytest.mark.browser


def printed(page: Page) -> list[str]:
    """The text of each page that the browser prints."""
    reader = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))
    return [unicodedata.normalize("NFKC", page.extract_text()) for page in reader.pages]


def test_a_report_is_printed(vpn_run: Run, desk: Page, live_server: Any) -> None:
    address = reverse("analysis:run_annotate", args=["helpdesk", vpn_run.pk])
    desk.goto(live_server.url + address + "?at=3")
    desk.get_by_role("radio", name="Hidden tool error").check()
    desk.get_by_label("In your words").fill("The wrapper drops the permission note.")
    desk.get_by_label("Link to the fix").fill("https://git.example/fix/7")
    desk.get_by_role("button", name="Save").click()
    expect(desk.get_by_text("The root cause stands at the run.")).to_be_visible()
    desk.wait_for_load_state("load")

    desk.keyboard.press("P")
    expect(desk.get_by_text("This is the report of the run")).to_be_visible()
    pages = printed(desk)

    text = " ".join("\n".join(pages).split())
    assert 2 <= len(pages) <= 8
    assert pages[0].index("VPN drops every ten minutes") < pages[0].index("Stopped from outside")
    for told in (
        "complete, 52 of 52",
        "rounds expected",
        "Hidden tool error",
        "The wrapper drops the permission note.",
        "(https://git.example/fix/7)",
        "Nothing came back: an empty string, no error flag",
        "Likely cause:",
        "Round 40: the model no longer sees",
        "printed by admin@desk.example",
        f"Page {len(pages)} of {len(pages)}",
    ):
        assert told in text
    assert (
        text.index("Hidden tool error")
        < text.index("Findings · 9".upper())
        < text.index("Nothing came")
    )
    for control in ("Annotate", "Compare", "Find in this run", "Show these rounds", "Sign out"):
        assert control not in text


def test_the_report_of_a_long_run_is_short(project: Project, desk: Page, live_server: Any) -> None:
    run = a_long_run(2_000, project)
    desk.goto(live_server.url + reverse("analysis:run_detail", args=["helpdesk", run.pk]))

    desk.keyboard.press("P")
    expect(desk.get_by_text("This is the report of the run")).to_be_visible()
    pages = printed(desk)

    text = " ".join("\n".join(pages).split())
    assert len(pages) <= 4
    assert "Rounds 1,952 to 1,999 are not loaded: 48 rounds, 0 findings." in text
    assert "record 1949 of Contoso, open" in text
    assert "Nothing came back" in text
