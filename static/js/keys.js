// One key handler for all pages. An element with data-key="f" is clicked (a field is focused) when f is
// pressed; other scripts register functions with desk.onKey. Keys never fire while one types in a field.
window.desk = (() => {
  const handlers = new Map();
  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (typing(event.target)) event.target.blur();
      document.querySelectorAll("details.menu[open]").forEach((menu) => menu.removeAttribute("open"));
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const handler = handlers.get(event.key);
    if (handler && handler(event) !== false) {
      event.preventDefault();
      return;
    }
    const element = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!element) return;
    event.preventDefault();
    if (element.matches("input")) {
      element.focus();
      element.select();
    } else {
      element.click();
    }
  });

  const showKeys = () => {
    let dialog = document.getElementById("keys");
    // A long page keeps it in a template until it is asked for, and puts it away again.
    const kept = document.querySelector("template[data-keys]");
    if (!dialog && kept) {
      document.body.append(kept.content.cloneNode(true));
      dialog = document.getElementById("keys");
      dialog.addEventListener("close", () => dialog.remove());
    }
    if (!dialog) return false;
    if (dialog.open) dialog.close();
    else dialog.showModal();
    return true;
  };
  handlers.set("?", showKeys);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-show-keys]")) {
      event.preventDefault();
      showKeys();
    } else if (event.target.matches("dialog")) {
      event.target.close();
    }
  });

  return { onKey: (key, handler) => handlers.set(key, handler) };
})();
