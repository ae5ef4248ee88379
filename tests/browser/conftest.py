"""A signed-in browser over a served project, that fails on what a page may not do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.factories import a_member, a_project, a_user
from tests.page_runs import the_vpn_run
from transcripts.choices import Role
from transcripts.models import Project, Run

PASSWORD = "right-horse"


@pytest.fixture
def project(transactional_db: None) -> Project:
    project = a_project("helpdesk", name="Helpdesk")
    a_member(project, Role.ADMIN, user=a_user("admin@desk.example", PASSWORD))
    return project


@pytest.fixture
def vpn_run(project: Project) -> Run:
    return the_vpn_run(project)


@pytest.fixture
def visitor(page: Page, live_server: Any, project: Project) -> Iterator[Page]:
    """The page of who has not signed in; keeps watch over all that it does.

    Fails a test for a console error (a refused script or style is one), an exception in a
    script, or a request to another host.
    """
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith(live_server.url) else wrong.append(request.url)
        ),
    )
    yield page
    assert wrong == []


@pytest.fixture
def desk(visitor: Page, live_server: Any) -> Page:
    """That page, signed in as administrator, before the run list."""
    visitor.goto(f"{live_server.url}/sign-in/")
    visitor.get_by_label("E-mail").fill("admin@desk.example")
    visitor.get_by_label("Password").fill(PASSWORD)
    visitor.keyboard.press("Enter")
    visitor.wait_for_url("**/p/helpdesk/runs/")
    return visitor
