// Rows of a list by keys: j and k move, Enter opens; a click anywhere on a row opens it.
(() => {
  const all = () => [...document.querySelectorAll("[data-row]")];
  const current = () => document.querySelector("[data-row].current");
  const stand = (row) => {
    if (!row) return;
    current()?.classList.remove("current");
    row.classList.add("current");
    row.querySelector(".open").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };
  const step = (by) => {
    const rows = all();
    const at = rows.indexOf(current());
    stand(rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]);
  };
  desk.onKey("j", () => step(1));
  desk.onKey("k", () => step(-1));
  desk.onKey("Enter", (event) => {
    if (event.target.closest("a, button, summary") || !current()) return false;
    current().querySelector(".open").click();
    return true;
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
    if (!row || event.target.closest("a, button, input, label, .pick:has([data-pick])") || String(getSelection())) return;
    row.querySelector(".open").click();
  });
  desk.rows = { all, current, stand };
})();
