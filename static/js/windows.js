// A long run: what is not loaded comes as one scrolls to it, and rounds that are far away go again, so that
// the page keeps its size. The server writes the line that says what is not loaded.
(() => {
  const run = document.getElementById("run");
  if (!run) return;
  const MOST_ITEMS = 48;
  const FAR = 2.5; // screens
  let busy = false;
  let lastY = scrollY;

  const items = () => [...document.querySelectorAll("#rounds > .item")];

  const load = (gap, end) => {
    const opener = gap.querySelector(`[data-opens="${end}"]`);
    if (!opener) return Promise.resolve();
    return htmx.ajax("GET", opener.getAttribute("hx-get"), { target: gap, swap: "outerHTML" });
  };

  // Rounds enter above what one reads: keep what one reads where it is.
  const keepingPlace = async (work) => {
    const mid = items().find((item) => item.getBoundingClientRect().bottom > innerHeight / 3 && item.dataset.kind !== "gap");
    const before = mid?.getBoundingClientRect().top;
    await work();
    await new Promise(requestAnimationFrame);
    if (mid?.isConnected) {
      const moved = mid.getBoundingClientRect().top - before;
      if (Math.abs(moved) > 1) scrollBy({ top: moved, behavior: "instant" });
    }
  };

  // The stretch of loaded rounds farthest from the screen, with the gap beside it, becomes one gap again.
  const unload = async () => {
    const all = items();
    if (all.length <= MOST_ITEMS) return;
    const far = (item) => {
      const box = item.getBoundingClientRect();
      return box.bottom < -FAR * innerHeight || box.top > (FAR + 1) * innerHeight;
    };
    for (const [at, gap] of all.entries()) {
      if (gap.dataset.kind !== "gap") continue;
      for (const direction of [-1, 1]) {
        const going = [];
        for (let next = at + direction; all[next] && far(all[next]) && all[next].dataset.kind !== "gap"; next += direction) {
          if (next <= 1 || next >= all.length - 2) break;
          going.push(all[next]);
        }
        if (going.length < 6) continue;
        const part = [...going, gap];
        const first = Math.min(...part.map((item) => Number(item.dataset.first)));
        const until = Math.max(...part.map((item) => Number(item.dataset.last)));
        await keepingPlace(async () => {
          going.forEach((item) => item.remove());
          await htmx.ajax("GET", `${run.dataset.address}part/?first=${first}&last=${until}&take=none&${run.dataset.kept}`, { target: gap, swap: "outerHTML" });
        });
        return;
      }
    }
  };

  const onScroll = async () => {
    if (busy || scrollY === lastY) return;
    const down = scrollY > lastY;
    lastY = scrollY;
    const screen = innerHeight;
    // A screen ahead, so that the gap is filled before one gets there.
    const gap = items().find((item) => {
      if (item.dataset.kind !== "gap") return false;
      const box = item.getBoundingClientRect();
      return down ? box.top < 2 * screen && box.bottom > 0 : box.bottom > -screen && box.top < screen;
    });
    busy = true;
    try {
      if (gap && down) await load(gap, "first");
      else if (gap) await keepingPlace(() => load(gap, "last"));
      await unload();
    } finally {
      busy = false;
    }
  };

  // Only a hand that scrolls loads; a jump passes over gaps.
  let wheel = 0;
  let pending = 0;
  ["wheel", "touchmove"].forEach((name) => addEventListener(name, () => { wheel = Date.now(); }, { passive: true }));
  addEventListener("scroll", () => {
    if (Date.now() - wheel > 600 || pending) return;
    pending = setTimeout(() => { pending = 0; onScroll(); }, 80);
  }, { passive: true });
})();
