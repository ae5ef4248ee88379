"""Send runs, uploads and exports in a browser: dropped files, by keys, without JavaScript, and from
360 pixels up in both themes.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from agentdesk.pipeline import delivery_process
from tests.factories import native_rounds
from transcripts.choices import DeliveryState
from transcripts.models import Delivery, Run

pytestmark = pytest.mark.browser
DROP = """
([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (c) => c.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  for (const type of ["dragenter", "dragover", "drop"])
    document.body.dispatchEvent(
      new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }),
    );
}
"""


def a_file(*run_ids: str) -> bytes:
    runs = [{"run_id": run_id, "rounds": native_rounds()} for run_id in run_ids]
    return "\n".join(map(json.dumps, runs)).encode()


def go(page: Page, live_server: Any, name: str) -> None:
    page.goto(live_server.url + reverse(f"transcripts:{name}", args=["helpdesk"]))


def work() -> None:
    """Do a worker's work."""
    for delivery in Delivery.objects.filter(state=DeliveryState.ACCEPTED):
        delivery_process(delivery.pk)


def test_a_dropped_file_is_shown_and_then_followed_to_its_runs(
    desk: Page, live_server: Any
) -> None:
    page = desk
    go(page, live_server, "upload")
    content = base64.b64encode(a_file("one", "two") + b"\n{broken").decode()

    page.evaluate(DROP, ["monday.jsonl", content])
    expect(page.locator("[data-chosen]")).to_contain_text("monday.jsonl (1 KB)")
    page.keyboard.press("Enter")

    held = page.locator(".held")
    expect(held).to_contain_text("2 runs, 6 rounds")
    expect(held).to_contain_text("Line 3: column 2")
    assert not Run.objects.exists()
    page.get_by_role("button", name="Store these 2 runs").press("Enter")
    expect(page.locator("h1")).to_have_text("Waiting for a worker: 1 of 1")
    work()
    expect(page.locator("h1")).to_have_text("2 runs stored")
    page.get_by_role("link", name="one", exact=True).click()
    expect(page.locator("h1")).to_be_visible()
    assert f"/runs/{Run.objects.get(run_id='one').pk}/" in page.url


def test_what_is_too_large_is_said_before_it_is_sent(desk: Page, live_server: Any) -> None:
    page = desk
    go(page, live_server, "upload")
    page.set_input_files("#files", {"name": "a", "mimeType": "", "buffer": b"x" * 33 * 2**20})

    expect(page.locator("[data-chosen]")).to_contain_text("more than may be sent at once")
    expect(page.get_by_role("button", name="Show what is in them")).to_be_disabled()


def test_an_upload_works_without_javascript(
    desk: Page, browser: Browser, live_server: Any, tmp_path: Path
) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_bytes(a_file("one"))
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(desk.context.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    go(page, live_server, "upload")

    page.set_input_files("#files", file)
    page.get_by_role("button", name="Show what is in them").click()
    page.get_by_role("button", name="Store this run").click()
    work()
    page.reload()

    expect(page.locator("h1")).to_have_text("1 run stored")
    context.close()


def test_a_test_run_is_seen_to_arrive(desk: Page, live_server: Any) -> None:
    """In a second window, since the button leads to the receipt."""
    page = desk
    go(page, live_server, "send_runs")
    other = page.context.new_page()
    go(other, live_server, "send_runs")

    other.get_by_role("button", name="Send a test run").press("Enter")
    expect(other.locator("h1")).to_contain_text("Waiting for a worker")
    work()

    expect(other.locator("h1")).to_have_text("1 run stored")
    expect(page.locator("#arrived")).to_contain_text("1 run arrived")
    other.close()


def test_a_key_is_made_and_filled_in(desk: Page, live_server: Any) -> None:
    page = desk
    go(page, live_server, "send_runs")

    page.get_by_role("button", name="Make a key").press("Enter")

    key = page.locator("#new-key").inner_text()
    assert key.startswith("agd_")
    expect(page.locator("#curl")).to_contain_text(f"Authorization: Bearer {key}")


def test_an_export_by_keys(desk: Page, vpn_run: Run, live_server: Any) -> None:
    page = desk
    page.goto(live_server.url + reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk]))

    page.keyboard.press("e")
    link = page.get_by_role("link", name="OpenTelemetry spans (OTLP JSON)")
    expect(link).to_be_visible()
    with page.expect_download() as download:
        link.press("Enter")

    assert download.value.suggested_filename == "vpn-20931.otlp.json"
    request = json.loads(Path(download.value.path()).read_bytes())
    assert len(request["resourceSpans"][0]["scopeSpans"][0]["spans"]) > 52
    page.keyboard.press("Escape")
    expect(link).not_to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible_and_fit(
    desk: Page, vpn_run: Run, live_server: Any, theme: str, width: int
) -> None:
    page = desk
    page.set_viewport_size({"width": width, "height": 900})
    page.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    run_page = reverse("analysis:run_detail", args=["helpdesk", vpn_run.pk])

    def look(what: str) -> None:
        found = Axe().run(page)
        assert found.violations_count == 0, (what, found.generate_report())
        wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, f"{what} is wider than {width} pixels"

    go(page, live_server, "send_runs")
    page.get_by_role("button", name="Make a key").click()
    look("send runs")
    go(page, live_server, "upload")
    page.set_input_files(
        "#files", {"name": "a.jsonl", "mimeType": "", "buffer": a_file("one") + b"\n{broken"}
    )
    page.get_by_role("button", name="Show what is in them").click()
    expect(page.locator(".held")).to_contain_text("Line 2")
    look("upload")
    page.get_by_role("button", name="Store this run").click()
    expect(page.locator("h1")).to_contain_text("Waiting")
    work()
    expect(page.locator("h1")).to_have_text("1 run stored")
    look("receipts")
    page.goto(live_server.url + run_page)
    page.keyboard.press("e")
    page.locator(".completeness summary").click()
    page.locator(".menu.export summary").first.click()
    look("export")
