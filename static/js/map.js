// The map, and its small copy that stays in sight: a click goes to the worst round of the cell, the pointer
// reads what a cell stands for, and a frame shows where one stands.
(() => {
  const map = document.getElementById("map");
  if (!map) return;
  const worst = map.dataset.worst.split(" ").map(Number);
  const perCell = Number(map.dataset.perCell);
  const last = Number(document.getElementById("run").dataset.last);
  const readout = document.querySelector(".map .readout");
  const words = (number) => number.toLocaleString("en");

  const cellAt = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const cell = Math.floor(((event.clientX - box.left) / box.width) * worst.length);
    return Math.min(Math.max(cell, 0), worst.length - 1);
  };
  document.querySelectorAll("[data-map]").forEach((drawing) => {
    drawing.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      document.dispatchEvent(new CustomEvent("desk:goto", { detail: worst[cellAt(event)] }));
    });
  });
  map.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    const first = cell * perCell + 1;
    const until = Math.min(first + perCell - 1, last);
    readout.textContent = perCell === 1
      ? `round ${words(first)}`
      : `rounds ${words(first)} to ${words(until)}, click for ${words(worst[cell])}`;
  });
  map.addEventListener("pointerleave", () => { readout.textContent = ""; });

  document.addEventListener("desk:round", (event) => {
    const from = Math.floor((event.detail.first - 1) / perCell);
    const to = Math.floor((event.detail.last - 1) / perCell) + 1;
    document.querySelectorAll("[data-map] .here").forEach((frame) => {
      const unit = frame.closest(".mini") ? 1 : 100 / worst.length;
      const sign = unit === 1 ? "" : "%";
      frame.setAttribute("x", `${from * unit}${sign}`);
      frame.setAttribute("width", `${(to - from) * unit}${sign}`);
      frame.removeAttribute("hidden");
    });
  });
})();
