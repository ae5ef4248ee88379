// Moving among the rounds: j k, n p, g, Home, End, links with data-goto. A round that is not on the page is
// asked for, and the server answers with the rounds around it.
(() => {
  const run = document.getElementById("run");
  if (!run) return;
  const list = () => document.getElementById("rounds");
  const items = () => [...list().querySelectorAll(":scope > .item")];
  const last = Number(run.dataset.last);
  const tools = document.querySelector(".tools");
  let current = null;

  const address = (number) => {
    const kept = run.dataset.kept ? `${run.dataset.kept}&` : "";
    return `${run.dataset.address}?${kept}at=${number}`;
  };

  const stand = (item, { scroll = true, say = true } = {}) => {
    if (!item) return;
    current?.classList.remove("current");
    current = item;
    item.classList.add("current");
    if (scroll) {
      item.focus({ preventScroll: true });
      const top = item.getBoundingClientRect().top;
      const margin = tools.getBoundingClientRect().bottom + 10;
      const target = item.offsetHeight > innerHeight - margin ? top - margin : top - Math.max(margin, innerHeight * 0.28);
      scrollBy({ top: target });
    }
    const first = Number(item.dataset.first);
    const until = Number(item.dataset.last);
    const words = first === until ? `Round ${first.toLocaleString("en")}` : `Rounds ${first.toLocaleString("en")} to ${until.toLocaleString("en")}`;
    if (say) tools.querySelector(".where").textContent = `${words} of ${last.toLocaleString("en")}`;
    document.querySelectorAll("[data-of-round]").forEach((link) => {
      link.href = link.dataset.ofRound.replace("/rounds/0/", `/rounds/${first}/`);
    });
    document.dispatchEvent(new CustomEvent("desk:round", { detail: { first, last: until } }));
    document.querySelectorAll(".findings a").forEach((link) => {
      const here = Number(link.dataset.finding) === first && first === until;
      link.toggleAttribute("aria-current", here);
      if (!here) return;
      link.setAttribute("aria-current", "true");
      const beside = link.closest(".beside");
      beside.scrollTop = link.offsetTop - beside.clientHeight / 3;
    });
    if (item.id) history.replaceState(history.state, "", `#${item.id}`);
  };

  const goTo = async (number) => {
    const wanted = Math.min(Math.max(Math.trunc(number), 1), last);
    if (!wanted) return;
    let item = document.getElementById(`r${wanted}`);
    if (!item) {
      await htmx.ajax("GET", address(wanted), { target: "#rounds", swap: "outerHTML" });
      item = document.getElementById(`r${wanted}`) ?? items().find((one) => Number(one.dataset.last) >= wanted);
      history.replaceState(history.state, "", address(wanted));
    }
    stand(item);
  };

  const here = () => {
    if (current?.isConnected) return current;
    const line = tools.getBoundingClientRect().bottom;
    return items().find((item) => item.getBoundingClientRect().bottom > line + 20) ?? items()[0];
  };
  const fresh = () => !current?.isConnected;

  const step = (by) => {
    const all = items();
    const from = here();
    if (fresh()) return stand(from);
    stand(all[all.indexOf(from) + by]);
  };

  const rounds = () => [...new Set([...document.querySelectorAll("[data-finding]")].map((link) => Number(link.dataset.finding)))].sort((a, b) => a - b);
  // The list beside the rounds names the first findings; the server knows where the others are.
  const nearest = async (query) => {
    const answer = await fetch(`${run.dataset.moreFindings}?${query}`);
    return answer.ok ? (await answer.json()).round : null;
  };
  const finding = async (by) => {
    const first = Number(here().dataset.first);
    const until = Number(here().dataset.last);
    const listed = rounds();
    const more = "moreFindings" in run.dataset;
    const after = fresh() ? first - 1 : until;
    let next = by > 0 ? listed.find((number) => number > after) : listed.findLast((number) => number < first);
    if (more && by > 0 && !next) next = await nearest(`after=${after}`);
    if (more && by < 0 && first > listed.at(-1)) next = await nearest(`before=${first}`);
    if (next) goTo(next);
    else desk.toast(by > 0 ? "No finding after this round" : "No finding before this round");
  };

  desk.onKey("j", () => step(1));
  desk.onKey("k", () => step(-1));
  desk.onKey("n", () => finding(1));
  desk.onKey("p", () => finding(-1));
  const copyLink = () => {
    const item = here();
    const number = item?.dataset.first;
    if (!number) return false;
    desk.copy(`${location.origin}${run.dataset.address}?at=${number}#r${number}`, `Copied the link to round ${Number(number).toLocaleString("en")}`);
    return true;
  };
  desk.onKey("l", copyLink);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-copy-link]")) copyLink();
  });
  desk.onKey("Home", () => { goTo(1); });
  desk.onKey("End", () => { goTo(last); });
  desk.onKey("Enter", (event) => {
    if (event.target.closest("a, button, summary") || !current?.isConnected) return false;
    (current.querySelector("[data-opens]") ?? current.querySelector("details:not([open]) > summary, .more"))?.click();
    return true;
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-goto]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) {
      const item = event.target.closest(".item[data-round]");
      if (item && !event.target.closest("a, button, summary")) stand(item, { scroll: false });
      return;
    }
    event.preventDefault();
    goTo(Number(link.dataset.goto));
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-goto-form]");
    if (!form) return;
    event.preventDefault();
    const number = Number(form.elements.at.value.replaceAll(",", ""));
    form.elements.at.value = "";
    form.elements.at.blur();
    if (number) goTo(number);
  });
  document.addEventListener("desk:goto", (event) => goTo(event.detail));

  // What was opened comes under the hand: the first round that a line made way for.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.matches?.(".item.current")) {
      const first = Number(event.detail.target.dataset.first);
      document.addEventListener("htmx:afterSettle", () => stand(items().find((item) => Number(item.dataset.first) >= first), { scroll: false }), { once: true });
    }
  });
  // "Show all" has done its work.
  document.addEventListener("htmx:afterSwap", (event) => {
    const sender = event.detail.requestConfig?.elt;
    if (sender?.matches?.("[data-once]")) sender.remove();
  });

  // A form about "this round" is about the one that one stands on.
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.matches("[data-annotate]") && current?.isConnected) event.detail.parameters.at = current.dataset.first;
  });

  const asked = location.hash.match(/^#r(\d+)$/);
  if (asked) {
    const item = document.getElementById(`r${asked[1]}`);
    if (item) stand(item);
    else goTo(Number(asked[1]));
  }
  addEventListener("hashchange", () => {
    const hash = location.hash.match(/^#r(\d+)$/);
    if (hash) goTo(Number(hash[1]));
  });
})();
