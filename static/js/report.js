// The report of a run: P, or the link, opens the browser's own print window.
(() => {
  desk.onKey("P", () => { window.print(); });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });
})();
