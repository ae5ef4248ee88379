"""Pictures for the documents: `python -m tests.browser.pictures FOLDER`.

The example run as a person sees it: run page and run list, light and dark, wide and narrow.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.pages import CHROMIUM, PASSWORD, database, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SIZES = {"": (1440, 900), "-narrow": (400, 860)}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with database():
        from django.urls import reverse
        from playwright.sync_api import sync_playwright

        from tests.builders import a_run, call
        from tests.factories import a_member, a_project, a_user
        from tests.page_runs import a_shown_run, the_vpn_run
        from transcripts.choices import Role

        project = a_project("helpdesk", name="Helpdesk")
        a_member(project, Role.ENGINEER, user=a_user("engineer@desk.example", PASSWORD))
        for record in (
            a_run([call()], "Your password is new.", run_id="b", ticket_id="IT-20938"),
            a_run(
                [call("find_employee", {"name": "Ana"}, "no such employee", is_error=True)],
                [call("find_employee", {"name": "Anna"}, "4711, sales")],
                "The laptop is on its way.",
                run_id="a",
                ticket_id="IT-20951",
            ),
            a_run(*[[call("list_files", {"page": 1}, "")]] * 9, run_id="c", ticket_id="IT-20917"),
        ):
            a_shown_run(record, project)
        run = the_vpn_run(project)
        pages = {
            "run": reverse("analysis:run_detail", args=[project.slug, run.pk]),
            "round-3": reverse("analysis:run_detail", args=[project.slug, run.pk]) + "?list=#r3",
            "list": reverse("analysis:run_list", args=[project.slug]) + "?tab=all",
        }
        found = next(filter(None, map(shutil.which, CHROMIUM)))
        with serving() as origin, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                for suffix, (width, height) in SIZES.items():
                    take(browser, origin, pages, folder, scheme, suffix, width, height)
            browser.close()


def take(
    browser: Browser,
    origin: str,
    pages: dict[str, str],
    folder: Path,
    scheme: str,
    suffix: str,
    width: int,
    height: int,
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(f"{origin}/sign-in/")
    page.fill("[name=username]", "engineer@desk.example")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    for name, address in pages.items():
        page.goto(origin + address)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"{name}-{scheme}{suffix}.png")
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
