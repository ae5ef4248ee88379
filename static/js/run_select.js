// Choosing runs: x and a click choose one, with Shift all from the last one on; a the whole page.
(() => {
  const picks = () => [...document.querySelectorAll("[data-pick]")];
  const every = () => document.querySelector("[data-pick-all]");
  let last = null;

  const tell = () => {
    const all = picks();
    const count = all.filter((pick) => pick.checked).length;
    const words = document.querySelector("[data-picked]");
    const runs = count === 1 ? "1 run" : `${count.toLocaleString("en")} runs`;
    if (words) words.textContent = every()?.checked ? "All runs" : runs;
    const page = document.querySelector("[data-pick-page]");
    if (page) {
      page.checked = count > 0 && count === all.length;
      page.indeterminate = count > 0 && count < all.length;
    }
  };
  const choose = (pick, on, range) => {
    const all = picks();
    const from = range && last && all.includes(last) ? all.indexOf(last) : all.indexOf(pick);
    const to = all.indexOf(pick);
    all.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((each) => { each.checked = on; });
    last = pick;
    if (!on && every()) every().checked = false;
    tell();
  };
  const page = (on) => {
    picks().forEach((pick) => { pick.checked = on; });
    if (!on && every()) every().checked = false;
    tell();
  };
  const byKey = (range) => {
    const pick = document.querySelector("[data-row].current [data-pick]");
    if (!pick) return false;
    choose(pick, range ? true : !pick.checked, range);
    return true;
  };
  desk.onKey("x", () => byKey(false));
  desk.onKey("X", () => byKey(true));
  desk.onKey("a", () => page(picks().some((pick) => !pick.checked)));
  const reaches = (key, name) => desk.onKey(key, () => {
    const field = document.querySelector(`.bulk [name="${name}"]`);
    if (!field) return false;
    if (!picks().some((pick) => pick.checked)) byKey(false);
    field.focus();
    return true;
  });
  reaches("s", "owner");
  reaches("l", "label");
  // What the bar does by a button: with the run that one stands at, where none is chosen.
  const chosen = () => picks().some((pick) => pick.checked) || byKey(false);
  desk.onKey("d", () => {
    const button = document.querySelector(".bulk [value=delete]");
    if (!button || !chosen()) return false;
    button.click();
    return true;
  });
  desk.onKey("e", () => {
    const menu = document.querySelector(".bulk details.export");
    if (!menu || !chosen()) return false;
    menu.toggleAttribute("open");
    if (menu.open) menu.querySelector("input").focus();
    return true;
  });
  desk.onKey("A", () => {
    if (!every()) return false;
    every().checked = !every().checked;
    page(every().checked);
    return true;
  });

  document.addEventListener("click", (event) => {
    if (event.target.matches("[data-pick]")) choose(event.target, event.target.checked, event.shiftKey);
    else if (event.target.matches("[data-pick-page]")) page(event.target.checked);
    else if (event.target.closest("[data-pick-none]")) page(false);
    else if (event.target.matches("[data-pick-all]")) {
      if (event.target.checked) page(true);
      tell();
    }
  });
  // Enter in a field of the bar does what its own button does.
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest(".bulk input[name=label], .bulk select");
    if (!field || event.key !== "Enter") return;
    event.preventDefault();
    field.parentElement.querySelector("button").click();
  });
  document.addEventListener("htmx:afterSwap", tell);
  window.addEventListener("pageshow", tell);
})();
