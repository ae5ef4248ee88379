"""The two ways through Agentdesk that it is made for, from start to end, by keys alone.

Tests walk them, and the pictures of the documents are taken on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

PASSWORD = "right-horse"
MOST_TABS = 60
# Whether the focus can be seen: an outline, or the frame of a row, round or field.
SEEN = """(element) => {
  const of = (each) => getComputedStyle(each);
  const framed = element.closest(".current, .card, label") ?? element;
  return of(element).outlineStyle !== "none" || of(element).boxShadow !== "none"
    || of(framed).outlineStyle !== "none" || of(framed).boxShadow !== "none";
}"""


@dataclass
class Keyboard:
    """A page that is used by keys alone. `look` is told the name of each place that is reached."""

    page: Page
    look: Callable[[str], None] = lambda name: None

    def press(self, *keys: str) -> None:
        # Keys are heard once the page's scripts have run.
        self.page.wait_for_load_state("domcontentloaded")
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def reach(self, target: Locator) -> None:
        """Go to it with Tab, and see that the focus shows there."""
        expect(target).to_be_visible()
        for _ in range(MOST_TABS):
            if target.evaluate("(element) => element === document.activeElement"):
                assert target.evaluate(SEEN), "the focus cannot be seen"
                return
            self.press("Tab")
        raise AssertionError(f"{target} is not reached with {MOST_TABS} tabs")

    def sign_in(self, email: str) -> None:
        expect(self.page.get_by_label("E-mail")).to_be_focused()
        self.type(email)
        self.press("Tab")
        self.type(PASSWORD)
        self.press("Enter")

    def told(self, words: str) -> None:
        expect(self.page.get_by_role("status").first).to_contain_text(words)


def lead_path(keys: Keyboard, link: str, *, ticket: str, lead: str) -> None:
    """An IT lead: the link of a mail, flagged runs, the sentence, the round, and whose it is."""
    page = keys.page
    page.goto(link)
    keys.sign_in(lead)
    expect(page.locator("h1")).to_have_text("Flagged runs")
    row = page.locator("[data-row]").filter(has_text=ticket).last
    keys.press("j")
    while not row.locator(".open").evaluate("(element) => element === document.activeElement"):
        keys.press("j")
    keys.look("list")

    keys.press("Enter")
    expect(page.locator(".verdict")).to_contain_text("First odd round: 3")
    expect(page.locator("#r3")).to_be_focused()
    expect(page.locator("#r3")).to_be_in_viewport(ratio=0.9)
    expect(page.locator("#r3")).to_contain_text("Nothing came back: an empty string")
    keys.look("run")

    keys.press("u")
    expect(page.locator("h1")).to_have_text("Flagged runs")
    keys.press("j")
    while not row.locator(".open").evaluate("(element) => element === document.activeElement"):
        keys.press("j")
    keys.press("s")
    expect(page.get_by_label("Owner", exact=True).last).to_be_focused()
    keys.type("erin")
    keys.press("Enter")
    keys.told("Erin")
    expect(row.locator(".owner")).to_contain_text("Erin")
    keys.look("list-assigned")


def engineer_path(keys: Keyboard, origin: str, replayed: Callable[[], None]) -> None:
    """An engineer: an incident, its round, what the model saw, the call by hand, the root cause,
    a test case, and the incident resolved once the case passes. `replayed` sends such a result.
    """
    page = keys.page
    page.goto(f"{origin}/p/helpdesk/incidents/")
    keys.sign_in("erin@desk.example")
    expect(page.locator("h1")).to_have_text("Incidents")
    row = page.locator("[data-row]").filter(has_text="reset_vpn_profile returned nothing")
    keys.press("j")
    while not row.locator(".open").evaluate("(element) => element === document.activeElement"):
        keys.press("j")
    keys.look("incidents")
    keys.press("Enter")
    expect(page.locator("h1")).to_have_text("reset_vpn_profile returned nothing")
    incident = page.url
    keys.look("incident")

    keys.press("f")
    expect(page.locator("#r3")).to_be_focused()
    keys.press("s")
    expect(page.locator("h1")).to_have_text("What the model saw in round 3")
    keys.look("input")
    keys.press("u")
    expect(page.locator("#r3")).to_be_focused()
    keys.press("t")
    expect(page.locator("h1")).to_contain_text("Test this call")
    keys.look("call")
    keys.reach(page.get_by_label("Paste it here"))
    keys.type("403 Forbidden: no permission to reset VPN profiles")
    keys.reach(page.get_by_role("button", name="Keep at round 3"))
    keys.press("Enter")
    expect(page.locator("#r3 .annotation")).to_contain_text("403 Forbidden")
    _root_cause(keys)
    _test_case(keys)

    replayed()
    page.reload()
    keys.look("case")
    keys.reach(page.get_by_role("button", name="Resolve INC-"))
    keys.press("Enter")
    keys.told("is resolved.")
    page.goto(incident)
    expect(page.locator(".state")).to_contain_text("Resolved")
    expect(page.locator("main")).to_contain_text("Hidden tool error")
    keys.look("incident-resolved")


def _root_cause(keys: Keyboard) -> None:
    page = keys.page
    keys.press("a")
    expect(page.get_by_role("radio", name="Hidden tool error")).to_be_focused()
    keys.press("Space")
    keys.reach(page.get_by_label("In your words"))
    keys.type("The wrapper swallows the 403 and returns an empty string.")
    keys.reach(page.locator("#annotate-form").get_by_role("button", name="Save"))
    keys.press("Enter")
    expect(page.locator("#said .label.breach")).to_have_text("Hidden tool error")
    keys.look("annotated")


def _test_case(keys: Keyboard) -> None:
    page = keys.page
    keys.press("m")
    expect(page.locator("h1")).to_have_text("Make a test case")
    keys.press("s")
    expect(page.locator("h1")).to_contain_text("CASE-1")
