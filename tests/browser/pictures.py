"""Pictures for the documents: `python -m tests.browser.pictures FOLDER`.

The example run as a person sees it: run page and run list, light and dark, wide and narrow.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.pages import CHROMIUM, PASSWORD, database, serving
from tests.browser.small_png import small_png

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from transcripts.record import RunRecord

SIZES = {"": (1200, 1180), "-narrow": (400, 860)}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with database():
        from django.urls import reverse
        from playwright.sync_api import sync_playwright

        from tests.factories import a_member, a_project, a_user
        from tests.page_runs import a_shown_run, the_vpn_run
        from transcripts.choices import Role

        project = a_project("helpdesk", name="Helpdesk")
        a_member(project, Role.ENGINEER, user=a_user("engineer@desk.example", PASSWORD))
        for record in written_runs():
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


def written_runs() -> Iterator[RunRecord]:
    """A few tickets that end in different ways, so that the list shows what it can."""
    from tests.builders import a_round, a_run, call
    from transcripts.record import Ending, InputChange, Message, Placed, Stop

    def ticket(number: int, words: str, *rounds: Any, cost: str, **fields: Any) -> RunRecord:
        message = Message("ticket", "user", words)
        record = a_run(*rounds, run_id=f"t-{number}", messages=(message,), **fields)
        read = replace(record.rounds[0], input=InputChange((Placed("ticket", 0),)))
        each = Decimal(cost) / len(record.rounds)
        return replace(
            record,
            ticket_id=f"IT-{number}",
            agent="helpdesk",
            prompt_version="2026-09-28.3",
            currency="INR",
            rounds=tuple(replace(one, cost=each) for one in (read, *record.rounds[1:])),
        )

    look = call("get_employee", {"employee_id": 2210}, "2210, sales, laptop LT-0412")
    expiry = call("get_password_expiry", {"employee_id": 2210}, "expired yesterday")
    reset = call("reset_password", {"employee_id": 2210}, "new password sent at 10:11")
    yield ticket(
        20938, "Password expired, Outlook asks again",
        [look], [expiry], [reset], [call("check_sign_in", {"employee_id": 2210}, "in at 10:12")],
        "You can sign in with the new password now.", cost="6",
    )  # fmt: skip
    yield ticket(
        20951, "New starter needs a laptop profile",
        [call("find_employee", {"name": "Ana Ruiz"}, "no such employee", is_error=True)],
        [call("find_employee", {"name": "Anna Ruiz"}, "4711, sales")],
        [call("create_profile", {"employee_id": 4711}, "profile P-88 created")],
        "The profile P-88 is ready.", cost="7",
    )  # fmt: skip
    pages = [
        [call("list_invoices", {"page": number}, f"page {number} of many: {number}01, {number}02")]
        for number in range(1, 13)
    ]
    limited = ticket(20917, "Find all invoices of Contoso", *pages, cost="31")
    yield replace(limited, ending=Ending.ROUND_LIMIT)
    yield ticket(
        20962, "I cannot open the payroll folder",
        [look], [call("get_folder_rights", {"folder": "payroll"}, "owner: finance; no right")],
        [call("escalate_to_it_team", {"reason": "only the owner may give this right"}, "queued")],
        cost="8",
    )  # fmt: skip
    yield ticket(
        20944, "Cannot map the finance share",
        [look], [call("list_shares", {"department": "finance"}, "fin-01, fin-02")],
        [call("get_share", {"name": "fin-01"}, "fin-01, quota 40 GB, free 12 GB")],
        a_round(reply="I will map the share fin-01 to the drive", stop=Stop.CUT_OFF), cost="9",
    )  # fmt: skip


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
    page.fill("[name=login]", "engineer@desk.example")
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    for name, address in pages.items():
        page.goto(origin + address)
        page.wait_for_load_state("networkidle")
        if name == "list":
            page.set_viewport_size({"width": width, "height": min(height, 860)})
        picture = folder / f"{name}-{scheme}{suffix}.png"
        picture.write_bytes(small_png(page.screenshot()))
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
