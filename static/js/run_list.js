// The run list by keys: j and k move, Enter opens; a click anywhere on a row opens it.
(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const current = () => document.querySelector("[data-row].current");
  const stand = (row) => {
    if (!row) return;
    current()?.classList.remove("current");
    row.classList.add("current");
    row.querySelector(".open").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };
  const step = (by) => {
    const all = rows();
    const at = all.indexOf(current());
    stand(all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]);
  };
  desk.onKey("j", () => step(1));
  desk.onKey("k", () => step(-1));
  desk.onKey("Enter", (event) => {
    if (event.target.closest("a, button, summary") || !current()) return false;
    current().querySelector(".open").click();
    return true;
  });
  const opens = (key, selector, field) => desk.onKey(key, () => {
    const menu = document.querySelector(selector);
    if (!menu) return false;
    menu.toggleAttribute("open");
    if (menu.open) menu.querySelector(field)?.focus();
    return true;
  });
  opens("f", "details.more", "select, input");
  opens("v", "details.views", "a, input:not([type=hidden])");
  // From the search to what it found: Enter goes there when the answer has come, the arrow at once.
  let goes = false;
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches("#q")) return;
    if (event.key === "Enter") goes = true;
    else if (event.key === "ArrowDown" && rows()[0]) {
      event.preventDefault();
      stand(rows()[0]);
    } else goes = false;
  });
  // A list that comes in anew is stood in where one stood.
  let stood = -1;
  document.addEventListener("htmx:beforeSwap", () => {
    stood = current()?.contains(document.activeElement) ? rows().indexOf(current()) : -1;
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (goes && document.activeElement?.id === "q") stood = 0;
    if (stood >= 0 && !current()) stand(rows()[Math.min(stood, rows().length - 1)]);
    goes = false;
  });
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-row]");
    if (row && row !== current()) {
      current()?.classList.remove("current");
      row.classList.add("current");
    }
  });
  document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-row]");
    if (!row || event.target.closest("a, button, input, label, .pick") || String(getSelection())) return;
    row.querySelector(".open").click();
  });
  // The address holds the list's state, also after the list alone was swapped.
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-list-form]")) {
      event.target.elements.list.value = location.search.slice(1);
    }
  });
})();
