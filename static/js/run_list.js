// The run list by keys beyond those of rows.js: menus, the search, and a list that comes in anew.
(() => {
  const { all: rows, current, stand } = desk.rows;
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
  // The address holds the list's state, also after the list alone was swapped.
  document.addEventListener("submit", (event) => {
    if (event.target.matches("[data-list-form]")) {
      event.target.elements.list.value = location.search.slice(1);
    }
  });
})();
