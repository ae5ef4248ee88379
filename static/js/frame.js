// The frame: menus close when one clicks elsewhere, copy buttons, light and dark without a reload, and a
// sentence when a request fails.
(() => {
  const toast = (text) => {
    document.querySelector(".toast")?.remove();
    const note = document.createElement("div");
    note.className = "toast";
    note.setAttribute("role", "status");
    note.textContent = text;
    document.body.append(note);
    setTimeout(() => note.remove(), 2600);
  };
  window.desk.toast = toast;
  window.desk.copy = (text, words = "Copied") => navigator.clipboard.writeText(text).then(
    () => toast(words),
    () => toast("This browser does not let the page copy. Select the text instead."),
  );

  // The server tells times in the reader's own zone from the next page on.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.includes(`tz=${zone};`) && !document.cookie.endsWith(`tz=${zone}`)) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `tz=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;
  }

  const copied = (element) => {
    const source = element.dataset.copyFrom;
    return source ? document.getElementById(source).innerText : element.dataset.copy;
  };

  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.removeAttribute("open");
    });
    // A masked secret leads to what is known of it, where there is a page for that.
    const secret = event.target.closest("[data-masked] .secret");
    if (secret && !event.target.closest("a, button, summary") && getSelection().isCollapsed) {
      location.assign(`${secret.closest("[data-masked]").dataset.masked}#s-${secret.dataset.secret}`);
    }
    const copier = event.target.closest("[data-copy], [data-copy-from]");
    if (copier) {
      event.preventDefault();
      window.desk.copy(copied(copier));
    }
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-theme-form]");
    if (form && event.submitter) {
      event.preventDefault();
      const theme = event.submitter.value;
      const body = new FormData(form);
      body.set("theme", theme);
      fetch(form.action, { method: "POST", body, redirect: "manual" });
      document.documentElement.dataset.theme = theme;
      form.querySelectorAll("button").forEach((button) => {
        button.setAttribute("aria-pressed", String(button === event.submitter));
      });
      return;
    }
    const question = event.submitter?.dataset.confirm || event.target.dataset.confirm;
    if (question && !window.confirm(question)) event.preventDefault();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submits]")) event.target.form.requestSubmit();
    if (event.target.matches("[data-checks]")) {
      document.getElementsByName(event.target.dataset.checks).forEach((box) => { box.checked = event.target.checked; });
    }
  });

  document.addEventListener("htmx:sendError", () => toast("The server cannot be reached. Nothing was changed."));
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    if (status === 403) toast("Your role may not do this.");
    else if (status === 404) toast("This is no longer there. Reload the page.");
    else toast(`The server answered with an error (${status}).`);
  });
})();
