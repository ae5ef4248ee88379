// The map, and its small copy that stays in sight: a click goes to the worst round of the cell, the pointer
// reads what a cell stands for, and a frame shows where one stands.
(() => {
  const map = document.getElementById("map");
  if (!map) return;
  const worst = map.dataset.worst.split(" ").map(Number);
  const across = Number(map.dataset.across);
  const perCell = Number(map.dataset.perCell);
  const last = Number(document.getElementById("run").dataset.last);
  const readout = document.querySelector(".map .readout");
  const words = (number) => number.toLocaleString("en");

  // The copy, and whose run it is, stand there once the map is out of sight.
  const tools = document.querySelector(".tools");
  new IntersectionObserver(([seen]) => tools.classList.toggle("under-map", seen.isIntersecting))
    .observe(map);

  const cellAt = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(Math.floor(((event.clientX - box.left) / box.width) * across), 0);
  };
  document.querySelectorAll("[data-map]").forEach((drawing) => {
    drawing.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      document.dispatchEvent(new CustomEvent("desk:goto", { detail: worst[cellAt(event)] ?? last }));
    });
  });
  map.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    const first = cell * perCell + 1;
    if (first > last) {
      readout.textContent = "";
      return;
    }
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
      const unit = frame.closest(".mini") ? 1 : 100 / across;
      const sign = unit === 1 ? "" : "%";
      frame.setAttribute("x", `${from * unit}${sign}`);
      frame.setAttribute("width", `${(to - from) * unit}${sign}`);
      frame.removeAttribute("hidden");
    });
  });
})();
