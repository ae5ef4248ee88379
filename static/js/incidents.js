// Incidents by keys: j and k move, Enter opens, x chooses; a click anywhere on a row opens it.
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
  const boxes = () => [...document.querySelectorAll("[data-row] input[name=number]")];
  const tell = () => {
    const chosen = boxes().filter((box) => box.checked);
    boxes().forEach((box) => box.closest("[data-row]").classList.toggle("chosen", box.checked));
    const told = document.querySelector(".bulk .chosen");
    if (told && chosen.length) told.textContent = `${chosen.length} chosen:`;
    else if (told) told.textContent = "None chosen:";
  };
  desk.onKey("j", () => step(1));
  desk.onKey("k", () => step(-1));
  if (document.getElementById("incident-list")) desk.onKey("x", () => {
    const box = (current() ?? rows()[0])?.querySelector("input[name=number]");
    if (!box) return false;
    stand(box.closest("[data-row]"));
    box.checked = !box.checked;
    tell();
    return true;
  });
  // Buttons of a row are pressed for the row that one stands on.
  if (document.getElementById("queue")) {
    for (const key of ["t", "d"]) {
      desk.onKey(key, () => {
        const button = (current() ?? rows()[0])?.querySelector(`[data-row-key="${key}"]`);
        button?.click();
        return Boolean(button);
      });
    }
  }
  desk.onKey("Enter", (event) => {
    if (event.target.closest("a, button, summary") || !current()) return false;
    current().querySelector(".open").click();
    return true;
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[name=number]")) tell();
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
    if (!row || event.target.closest("a, button, input, label") || String(getSelection())) return;
    row.querySelector(".open").click();
  });
})();
