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

  // A page that says nothing of its keys has this said of them.
  const emptyDialog = () => {
    const dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    const title = document.createElement("h2");
    title.id = "keys-title";
    title.textContent = "Keys";
    const form = document.createElement("form");
    form.method = "dialog";
    const button = document.createElement("button");
    button.className = "button";
    button.textContent = "Close";
    form.append(button);
    dialog.append(title, document.createElement("dl"), form);
    document.body.append(dialog);
    return dialog;
  };
  const wordsOf = (element) => {
    const named = element.getAttribute("aria-label") || element.placeholder;
    if (named) return named;
    const copy = (element.matches("input, select") ? element.closest("label") ?? element : element).cloneNode(true);
    copy.querySelectorAll("kbd, .count, select, input, svg").forEach((part) => part.remove());
    return copy.textContent.trim().replace(/\s+/g, " ");
  };
  const line = (list, key, words) => {
    const term = document.createElement("dt");
    const shown = document.createElement("kbd");
    shown.textContent = key;
    term.append(shown);
    const told = document.createElement("dd");
    told.textContent = words;
    list.append(term, told);
  };
  // What the page's own list leaves out is put at its end, so that the list is always whole.
  const complete = (list) => {
    const told = new Set([...list.querySelectorAll("kbd")].map((kbd) => kbd.textContent));
    const ranges = [...list.querySelectorAll("dt")].map((dt) => dt.textContent.match(/^(\d) to (\d)$/)).filter(Boolean);
    const among = (key) => told.has(key) || ranges.some(([, from, to]) => key >= from && key <= to);
    document.querySelectorAll("[data-key]").forEach((element) => {
      const { key } = element.dataset;
      if (among(key)) return;
      told.add(key);
      line(list, key, wordsOf(element));
    });
    if (!told.has("?")) line(list, "?", "these keys");
  };

  const showKeys = () => {
    let dialog = document.getElementById("keys");
    if (!dialog) {
      // A long page keeps it in a template until it is asked for, and puts it away again.
      const kept = document.querySelector("template[data-keys]");
      if (kept) document.body.append(kept.content.cloneNode(true));
      dialog = document.getElementById("keys") ?? emptyDialog();
      dialog.addEventListener("close", () => dialog.remove());
    }
    if (!dialog.open) complete(dialog.querySelector("dl"));
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

  document.querySelectorAll("[data-show-keys]").forEach((button) => button.removeAttribute("hidden"));

  return { onKey: (key, handler) => handlers.set(key, handler), keys: () => [...handlers.keys()] };
})();
