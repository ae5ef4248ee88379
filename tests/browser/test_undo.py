"""Settings that were changed by mistake, taken back by a key, and by a button without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.alerts.channels import channel_add, rule_add
from analysis.models import AlertChannel, AlertKind, AlertRule, ChannelKind
from tests.browser.conftest import PASSWORD
from tests.factories import a_key, a_member, a_user
from transcripts.choices import Role
from transcripts.models import ApiKey, Membership, Project, User

pytestmark = pytest.mark.browser


def at(desk: Page, live_server: Any, name: str) -> None:
    desk.goto(live_server.url + reverse(name, args=["helpdesk"]))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_removed_channel_is_back_by_a_key(
    desk: Page, live_server: Any, project: Project, theme: str
) -> None:
    desk.context.add_cookies([{"name": "theme", "value": theme, "url": live_server.url}])
    channel, _ = channel_add(
        project=project, kind=ChannelKind.EMAIL, name="On call", address="a@desk.example",
        user=User.objects.get(email="admin@desk.example"),
    )  # fmt: skip
    rule_add(project=project, channel=channel, kind=AlertKind.RUN_FLAGGED)
    at(desk, live_server, "analysis:alerts")

    desk.on("dialog", lambda asked: asked.accept())
    desk.get_by_role("button", name="Remove").first.press("Enter")
    said = desk.get_by_role("status").first
    expect(said).to_contain_text("The channel On call is removed, with its rule.")
    assert Axe().run(desk).violations_count == 0
    gone = (AlertChannel.objects.count(), AlertRule.objects.count())
    desk.keyboard.press("z")

    expect(said).to_contain_text("The channel On call is back, with its rule.")
    assert gone == (0, 0)
    assert (AlertChannel.objects.count(), AlertRule.objects.count()) == (1, 1)


def test_a_revoked_key_works_again_by_a_key(desk: Page, live_server: Any, project: Project) -> None:
    a_key(project)
    at(desk, live_server, "transcripts:key_list")

    desk.on("dialog", lambda asked: asked.accept())
    desk.get_by_role("button", name="Revoke").first.press("Enter")
    said = desk.get_by_role("status").first
    expect(said).to_contain_text("is revoked: whoever uses it is refused.")
    revoked = ApiKey.objects.get().revoked_at
    desk.keyboard.press("z")

    expect(said).to_contain_text("works again.")
    assert revoked is not None
    assert ApiKey.objects.get().revoked_at is None


@pytest.fixture
def plain(browser: Browser, live_server: Any, project: Project) -> Iterator[Page]:
    """A signed-in browser that runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.get_by_label("E-mail").fill("admin@desk.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/p/helpdesk/runs/")
    yield page
    context.close()


def test_a_removed_member_is_back_without_scripts(
    plain: Page, live_server: Any, project: Project
) -> None:
    person = a_member(project, Role.LEAD, user=a_user("bea@desk.example"), restricted=True)
    at(plain, live_server, "transcripts:member_list")

    plain.get_by_role("row").filter(has_text="bea@desk.example").get_by_role(
        "button", name="Remove"
    ).click()
    expect(plain.get_by_role("status").first).to_contain_text("is no longer a member.")
    gone = not Membership.objects.filter(user=person).exists()
    plain.get_by_role("button", name="Undo").click()

    expect(plain.get_by_role("status").first).to_contain_text("is a member again, as lead.")
    expect(plain).to_have_url(
        live_server.url + reverse("transcripts:member_list", args=["helpdesk"])
    )
    membership = Membership.objects.get(user=person)
    assert gone
    assert (membership.role, membership.restricted) == (Role.LEAD, True)
