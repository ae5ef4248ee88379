"""Limits, detectors and stop reasons in a browser: by keys, in both themes, from 360 pixels up."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.limits.learning import baseline_learn
from analysis.models import Job, JobKind, JobState, LimitSet
from tests.builders import a_run, call
from tests.page_runs import a_shown_run
from transcripts.masking import masked_text
from transcripts.models import MaskRule, Project, Run

pytestmark = pytest.mark.browser


@pytest.fixture
def past_runs(project: Project, vpn_run: Run) -> None:
    """The VPN run, and runs of 2 to 22 rounds that finished; what is normal is learned."""
    for rounds in range(2, 23):
        calls = [[call("look_up", {"n": n}, f"answer {n}")] for n in range(rounds - 1)]
        record = a_run(
            *calls, "Done.", run_id=f"run-{rounds}", agent="helpdesk", ticket_id=f"T-{rounds}"
        )
        a_shown_run(record, project)
    baseline_learn(project=project, agent="helpdesk")
    LimitSet.objects.create(project=project, agent=masked_text("billing"), values={"rounds": 9})


def go(desk: Page, live_server: Any, name: str, *args: object, query: str = "") -> None:
    address = reverse(f"analysis:{name}", args=["helpdesk", *args])
    desk.goto(live_server.url + address + query)


def test_a_preview_by_keys_then_saved(past_runs: None, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "limits")

    desk.get_by_label("Rounds").focus()
    desk.keyboard.type("10")
    desk.get_by_role("button", name="Preview the effect on past runs").press("Enter")

    effect = desk.locator("#effect")
    expect(effect).to_contain_text("Would flag")
    expect(effect.get_by_role("link", name="T-22")).to_be_visible()
    assert not LimitSet.objects.filter(agent="").exists()
    desk.get_by_label("Rounds").press("Enter")
    expect(effect).to_contain_text("Would flag")
    desk.get_by_role("button", name="Save").press("Enter")
    expect(desk.get_by_role("status").first).to_contain_text("Saved.")
    assert LimitSet.objects.get(agent="").values == {"rounds": 10}


def test_a_job_is_followed_to_its_end(
    past_runs: None, project: Project, desk: Page, live_server: Any
) -> None:
    job = Job.objects.create(project=project, kind=JobKind.READ_AGAIN, total=4, read=1)
    go(desk, live_server, "job_detail", job.pk)
    expect(desk.locator("main")).to_contain_text("Reading past runs again: 1 of 4")

    Job.objects.filter(pk=job.pk).update(
        state=JobState.DONE, read=4, finished_at=job.created_at, result={"flagged_after": 3}
    )

    expect(desk.locator("main")).to_contain_text("4 past runs were read again")
    expect(desk.locator("main")).to_contain_text("3 flagged instead of 0")


def test_stop_reasons_are_found_as_one_types(desk: Page, live_server: Any) -> None:
    go(desk, live_server, "stop_reasons")

    desk.keyboard.press("/")
    desk.keyboard.type("STOPSTOP")

    expect(desk.locator("#labels")).to_contain_text("is read as finished")
    assert "q=STOPSTOP" in desk.url


def test_from_a_finding_to_its_detector(vpn_run: Run, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "run_detail", vpn_run.pk)

    desk.locator("#r3 .finding").get_by_role("link", name="How it is found").first.press("Enter")

    expect(desk.locator("h1")).to_have_text("Empty result")
    expect(desk.locator("main")).to_contain_text("Stays silent")


def test_a_rule_is_tried_and_saved_by_keys(vpn_run: Run, desk: Page, live_server: Any) -> None:
    go(desk, live_server, "mask_rule")
    for label, words in (
        ("Name", "answers"),
        ("Shown as", "answer"),
        ("Pattern", r"answer (\d+)"),
        ("An example that it must match", "answer 12"),
        ("One that it must not match", "page 12"),
    ):
        desk.get_by_label(label).focus()
        desk.keyboard.type(words)

    desk.get_by_role("button", name="Try on past runs").press("Enter")

    expect(desk.locator("#effect")).to_contain_text("Would mask")
    assert not MaskRule.objects.exists()
    desk.get_by_role("button", name="Save").press("Enter")
    expect(desk.get_by_role("status").first).to_contain_text("holds for what comes from now")
    assert MaskRule.objects.get().family == "answer"


def test_a_chip_is_copied_as_its_placeholder_and_leads_to_its_receipt(
    project: Project, desk: Page, live_server: Any
) -> None:
    run = a_shown_run(a_run("The password is Orchid_4417, as ever.", run_id="s"), project)
    (digest,) = run.mask_known
    go(desk, live_server, "run_detail", run.pk)
    chip = desk.locator("#r1 .secret").first

    expect(chip).to_be_visible()
    selected = desk.evaluate(
        "getSelection().selectAllChildren(document.querySelector('#r1 .reply')),"
        "getSelection().toString()"
    )
    assert selected == f"The password is [SECRET:password:{digest[:8]}], as ever."
    desk.evaluate("getSelection().removeAllRanges()")
    chip.click()
    desk.wait_for_url(f"**/runs/{run.pk}/masked/#s-{digest[:8]}")
    found = Axe().run(desk)
    assert found.violations_count == 0, found.generate_report()


PAGES: list[tuple[str, tuple[object, ...], str]] = [
    ("limits", (), ""),
    ("limits", (), "?agent=helpdesk"),
    ("limits", (), "?agent=helpdesk&tool=look_up"),
    ("masking", (), ""),
    ("mask_rule", (), ""),
    ("detector_list", (), ""),
    ("detector_detail", ("repeated_call",), "?agent=helpdesk"),
    ("stop_reasons", (), "?q=max"),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_pages_are_accessible_and_fit(
    past_runs: None, desk: Page, live_server: Any, theme: str, width: int
) -> None:
    desk.set_viewport_size({"width": width, "height": 900})
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    for name, args, query in PAGES:
        go(desk, live_server, name, *args, query=query)
        if name == "limits":
            desk.get_by_role("button", name="Preview the effect on past runs").click()
            expect(desk.locator("#effect")).to_contain_text("Nothing would change.")

        found = Axe().run(desk)

        assert found.violations_count == 0, found.generate_report()
        wide = desk.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, f"{name}{query} is wider than {width} pixels"
