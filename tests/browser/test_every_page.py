"""Every page that the resolver knows: read by axe, in both themes, wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.test import Client
from playwright.sync_api import Page

from tests.browser.lived_in import a_lived_in_project, page_addresses
from transcripts.models import Project, User

pytestmark = pytest.mark.browser


@pytest.fixture
def addresses(client: Client, project: Project) -> list[str]:
    user = User.objects.get(email="admin@desk.example")
    client.force_login(user)
    return list(page_addresses(client, project, a_lived_in_project(project, user)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_accessible_and_fits(
    addresses: list[str], desk: Page, live_server: Any, theme: Any
) -> None:
    found = {}
    desk.emulate_media(color_scheme=theme)

    for address in addresses:
        desk.goto(live_server.url + address)
        for width in (1440, 360):
            desk.set_viewport_size({"width": width, "height": 900})
            results = Axe().run(desk, options={"resultTypes": ["violations"]})
            if results.violations_count:
                found[address, width] = results.generate_report()
            if desk.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[address, width, "wide"] = "scrolls sideways"

    assert len(addresses) > 50
    assert found == {}
