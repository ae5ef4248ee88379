// A long run: what is not loaded comes as one scrolls to it, and rounds that are far away go again, so that
// the page keeps its size. The server writes the line that says what is not loaded.
(() => {
  const run = document.getElementById("run");
  if (!run) return;
  const MOST_ELEMENTS = 800;
  const A_LOAD = 240; // elements that one load brings at most, about
  const LEAST_LOAD = 70;
  const SPARE = 30;
  // Screens that stay where one scrolls to, and where one comes from: fewer, the more crowded it is.
  const STAYS = [[2.2, 0.5], [1.2, 0.3], [0.7, 0.1], [0.3, 0]];
  let busy = false;
  let down = true;

  const items = () => [...document.querySelectorAll("#rounds > .item")];

  const free = () => MOST_ELEMENTS - SPARE - document.getElementsByTagName("*").length;

  const load = (gap, end) => {
    const opener = gap.querySelector(`[data-opens="${end}"]`);
    if (!opener) return Promise.resolve();
    const room = Math.min(A_LOAD, free());
    if (room < LEAST_LOAD) return Promise.resolve(); // the line stays, and says what is not loaded
    return htmx.ajax("GET", `${opener.getAttribute("hx-get")}&room=${room}`, { target: gap, swap: "outerHTML" });
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

  // A stretch of loaded rounds that is far from the screen, with the gap beside it, becomes one gap again.
  const unload = async ([ahead, behind]) => {
    const all = items();
    const far = (item) => {
      const box = item.getBoundingClientRect();
      const above = (down ? behind : ahead) * innerHeight;
      const below = (down ? ahead : behind) * innerHeight;
      return box.bottom < -above || box.top > innerHeight + below;
    };
    for (const [at, gap] of all.entries()) {
      if (gap.dataset.kind !== "gap") continue;
      for (const direction of [-1, 1]) {
        const going = [];
        let next = at + direction;
        for (; all[next] && far(all[next]) && all[next].dataset.kind !== "gap"; next += direction) {
          if (next <= 1 || next >= all.length - 2) break;
          going.push(all[next]);
        }
        if (going.length < 2) continue;
        if (all[next]?.dataset.kind === "gap") going.push(all[next]); // two gaps that meet become one
        const part = [...going, gap];
        const first = Math.min(...part.map((item) => Number(item.dataset.first)));
        const until = Math.max(...part.map((item) => Number(item.dataset.last)));
        await keepingPlace(async () => {
          going.forEach((item) => item.remove());
          await htmx.ajax("GET", `${run.dataset.address}part/?first=${first}&last=${until}&take=none&${run.dataset.kept}`, { target: gap, swap: "outerHTML" });
        });
        return true;
      }
    }
    return false;
  };
  const makeRoom = async (room) => {
    for (const stays of STAYS) {
      while (free() < room && (await unload(stays)));
    }
  };

  // What is opened by hand brings no more than there is room for, either.
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.matches?.("[data-opens]")) {
      event.detail.parameters.room = String(Math.max(LEAST_LOAD, Math.min(A_LOAD, free())));
    }
  });

  const onScroll = async () => {
    if (busy) return;
    const screen = innerHeight;
    // Half a screen ahead, so that the gap is filled before one gets there.
    const gap = items().find((item) => {
      if (item.dataset.kind !== "gap") return false;
      const box = item.getBoundingClientRect();
      return down ? box.top < 1.5 * screen && box.bottom > 0 : box.bottom > -screen / 2 && box.top < screen;
    });
    busy = true;
    try {
      await makeRoom(gap ? A_LOAD : 0);
      if (gap?.isConnected && down) await load(gap, "first");
      else if (gap?.isConnected) await keepingPlace(() => load(gap, "last"));
    } finally {
      busy = false;
    }
  };

  // Only a hand that scrolls loads; a jump passes over gaps.
  let wheel = 0;
  let pending = 0;
  // Which way: by the hand, since the page also moves by itself when rounds come in above.
  let touched = 0;
  addEventListener("wheel", (event) => {
    wheel = Date.now();
    if (event.deltaY) down = event.deltaY > 0;
  }, { passive: true });
  addEventListener("touchstart", (event) => { touched = event.touches[0].clientY; }, { passive: true });
  addEventListener("touchmove", (event) => {
    wheel = Date.now();
    const now = event.touches[0].clientY;
    if (now !== touched) down = now < touched;
    touched = now;
  }, { passive: true });
  addEventListener("scroll", () => {
    if (Date.now() - wheel > 600 || pending) return;
    pending = setTimeout(() => { pending = 0; onScroll(); }, 80);
  }, { passive: true });
})();
