"""Pictures for the documents: `python -m tests.browser.pictures FOLDER`.

They are taken on the two ways of `tests.browser.paths`, which tests walk as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.pages.served import database, serving
from tests.browser.paths import PASSWORD, Keyboard, engineer_path, lead_path
from tests.browser.small_png import small_png
from tests.run import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Page, ViewportSize

    from transcripts.models import Project
    from transcripts.record import RunRecord

SIZE: ViewportSize = {"width": 1200, "height": 1000}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with database():
        from playwright.sync_api import sync_playwright

        from tests.page_runs import a_shown_run

        project = a_team()
        for record in (*written_runs(), the_mended_run()):
            a_shown_run(record, project)
        spread_over_days(project)
        found = find_chromium()
        with serving() as origin, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                walk_as_lead(browser, origin, folder, scheme)
            walk_as_engineer(browser, origin, folder, project)
            browser.close()


def a_team() -> Project:
    """A project with a lead and an engineer, and the example run in it."""
    from tests.factories import a_member, a_project, a_user
    from tests.page_runs import the_vpn_run
    from transcripts.choices import Role

    project = a_project("helpdesk", name="Helpdesk")
    for role, name in ((Role.LEAD, "Lea Lead"), (Role.ENGINEER, "Erin Engineer")):
        email = f"{name.split()[0].lower()}@desk.example"
        a_member(project, role, user=a_user(email, PASSWORD, name=name))
    the_vpn_run(project)
    return project


def spread_over_days(project: Project) -> None:
    """Let the runs have come in over the last days, so that charts have something to show."""
    from django.utils import timezone

    from transcripts.models import Run

    now = timezone.now()
    for days, run in enumerate(Run.objects.filter(project=project).order_by("-pk")):
        at = now - timedelta(days=days, minutes=7)
        Run.objects.filter(pk=run.pk).update(received_at=at)


def walk_as_lead(browser: Browser, origin: str, folder: Path, scheme: str) -> None:
    keys = a_keyboard(browser, folder, scheme, {"list": f"list-{scheme}", "run": f"run-{scheme}"})
    link = f"{origin}/p/helpdesk/runs/?tab=flagged"
    lead_path(keys, link, ticket="IT-20931", lead="lea@desk.example")
    keys.page.context.close()


def walk_as_engineer(browser: Browser, origin: str, folder: Path, project: Project) -> None:
    from django.urls import reverse

    from analysis.models import CaseReplay
    from tests.analysis.case_pages.made import a_kept_result, the_vpn_story_run
    from transcripts.models import Run

    first = Run.objects.get(project=project, ticket_id="IT-20931", code_version="1.14.0")
    mended = Run.objects.get(project=project, ticket_id="IT-20931", code_version="1.14.1")
    the_vpn_story_run(project)

    def replayed() -> None:
        from analysis.models import TestCase

        a_kept_result(TestCase.objects.get(), 20, 20, code="1.14.1")

    wanted = {name: f"{name}-light" for name in ("incident", "call")}
    keys = a_keyboard(browser, folder, "light", wanted)
    engineer_path(keys, origin, replayed)
    compare = reverse("analysis:run_compare", args=[project.slug, first.pk])
    replay = CaseReplay.objects.get()
    for name, address in {
        "queue": reverse("analysis:hand_off_list", args=[project.slug]),
        "replay": reverse("analysis:case_replay", args=[project.slug, 1, replay.pk]),
        "compare": f"{compare}?with={mended.pk}",
        "insights": reverse("analysis:insights", args=[project.slug]) + "?days=30",
    }.items():
        keys.page.goto(origin + address)
        take(keys.page, folder / f"{name}-light.png")
    keys.page.context.close()


def a_keyboard(browser: Browser, folder: Path, scheme: str, wanted: dict[str, str]) -> Keyboard:
    """Takes a picture of each place in `wanted`, by the name of its file."""
    dark = scheme == "dark"
    context = browser.new_context(viewport=SIZE, color_scheme="dark" if dark else "light")
    page = context.new_page()

    def look(name: str) -> None:
        if name in wanted:
            take(page, folder / f"{wanted[name]}.png")

    return Keyboard(page, look)


def take(page: Page, picture: Path) -> None:
    """The page from its top, no longer than what is on it."""
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    height = page.evaluate(
        "Math.ceil(document.querySelector('main').getBoundingClientRect().bottom)"
    )
    clip: FloatRect = {
        "x": 0,
        "y": 0,
        "width": SIZE["width"],
        "height": min(SIZE["height"], height + 24),
    }
    picture.write_bytes(small_png(page.screenshot(clip=clip)))


def the_mended_run() -> RunRecord:
    """The ticket of the example once more, after the tool was mended."""
    from tests.page_runs import EXAMPLE
    from transcripts.importers import read_runs
    from transcripts.record import RunRecord

    (record,) = read_runs(EXAMPLE.with_name("vpn-20931-again.json").read_bytes())
    assert isinstance(record, RunRecord)
    return record


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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
