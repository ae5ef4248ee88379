// Incidents and the queue by keys beyond those of rows.js: x chooses, buttons of a row.
(() => {
  const { all: rows, current, stand } = desk.rows;
  const boxes = () => [...document.querySelectorAll("[data-row] input[name=number]")];
  const tell = () => {
    const chosen = boxes().filter((box) => box.checked);
    boxes().forEach((box) => box.closest("[data-row]").classList.toggle("chosen", box.checked));
    const told = document.querySelector(".bulk .chosen");
    if (told && chosen.length) told.textContent = `${chosen.length} chosen:`;
    else if (told) told.textContent = "None chosen:";
  };
  // What is pressed with none chosen is for the one that one stands on.
  if (document.getElementById("incident-list")) for (const key of ["m", "e"]) {
    desk.onKey(key, () => {
      const box = current()?.querySelector("input[name=number]");
      if (box && !boxes().some((each) => each.checked)) {
        box.checked = true;
        tell();
      }
      return false;
    });
  }
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
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[name=number]")) tell();
  });
})();
