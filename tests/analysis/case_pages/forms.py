"""A form as a browser would send it back, untouched."""

from __future__ import annotations

from html.parser import HTMLParser


class _Form(HTMLParser):
    def __init__(self, form_id: str) -> None:
        super().__init__(convert_charrefs=True)
        self.form_id, self.inside = form_id, False
        self.values: dict[str, list[str]] = {}
        self.area = ""
        self.select = ""
        self.options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = said.get("id") == self.form_id
        if not self.inside or ("name" not in said and tag != "option"):
            return
        if tag == "input" and (said.get("type") not in ("checkbox", "radio") or "checked" in said):
            otherwise = "on" if said.get("type") == "checkbox" else ""
            self.values.setdefault(said["name"], []).append(said.get("value", otherwise))
        elif tag == "textarea":
            self.area = said["name"]
            self.values[self.area] = [""]
        elif tag == "select":
            self.select, self.options = said["name"], []
        elif tag == "option" and self.select:
            self.options.append((said.get("value", ""), "selected" in said))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = False
        elif tag == "textarea" and self.area:
            # Browsers leave out the line break that follows the tag.
            self.values[self.area] = [self.values[self.area][0].removeprefix("\n")]
            self.area = ""
        elif tag == "select" and self.select:
            chosen = [value for value, is_chosen in self.options if is_chosen]
            self.values[self.select] = chosen or [value for value, _ in self.options[:1]]
            self.select = ""

    def handle_data(self, text: str) -> None:
        if self.area:
            self.values[self.area] = [self.values[self.area][0] + text]


def form_values(html: str, form_id: str = "case-form") -> dict[str, list[str]]:
    """Names and values of all that a form would send, its buttons aside."""
    reader = _Form(form_id)
    reader.feed(html)
    return reader.values
