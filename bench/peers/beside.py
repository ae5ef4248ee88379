"""Reads the same runs in each product, in Chromium without a window, cold, and tells the ratios to
ours.

None knows a first odd round, so what is measured first is when the run's first text can be read.
Then how one gets to the last round and to the first one, and how long its find takes, where it has
one. What takes longer than `PATIENCE_MS` is told in a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from bench.figures import Figure
from bench.otlp.sending import SendError
from bench.pages import chromium
from bench.pages.reading import PARTS, Reading, ratios
from bench.pages.runs import a_long_record, to_find
from bench.peers.inspect_view import InspectView
from bench.peers.mlflow import Mlflow
from bench.peers.phoenix import Phoenix
from bench.peers.running import AwayError, Peer, Running, running
from transcripts.record import RunRecord

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE_MS = 300_000
# Cold starts of one run; only one where the first of them took longer than so many seconds.
OPENINGS, LONG = 3, 10.0


class Product(Protocol):
    """How one peer is given runs, and how a person reads one in it. `to_last` and `to_first` say by
    what; `find` gives seconds from the last key; `finds` False: it looks at no texts in a run.
    """

    peer: ClassVar[Peer]
    finds: ClassVar[bool]

    def put(self, running: Running, records: Sequence[RunRecord]) -> None: ...
    def address(self, running: Running, rounds: int) -> str: ...
    def opened(self, page: Page) -> None: ...
    def to_last(self, page: Page, rounds: int) -> str: ...
    def to_first(self, page: Page) -> str: ...
    def find(self, page: Page, words: str) -> float: ...


PRODUCTS: Mapping[str, Product] = {
    "inspect": InspectView(),
    "phoenix": Phoenix(),
    "mlflow": Mlflow(),
}
NAMES = tuple(PRODUCTS)


def beside(names: Sequence[str], lengths: Sequence[int], ours: Mapping[int, Reading]) -> None:
    """Print the figures of these products at these lengths, and then all ratios to `ours`."""
    told: list[Figure] = []
    for name in names if lengths else ():
        product = PRODUCTS[name]
        for rounds, reading in _readings(product, lengths).items():
            label = f"{product.peer.name} to Agentdesk, {rounds:,} rounds"
            told += ratios(label, reading, ours.get(rounds, Reading()))
    for figure in told:
        print(figure, flush=True)


def _readings(product: Product, lengths: Sequence[int]) -> dict[int, Reading]:
    """By rounds; empty where the product cannot be had, which is told."""
    readings: dict[int, Reading] = {}
    peer = product.peer
    try:
        with chromium.launched() as browser:
            if browser is None:
                raise AwayError("there is no Chromium here")
            with running(peer) as started:
                product.put(started, [a_long_record(rounds) for rounds in lengths])
                _warm_up(product, started, browser, min(lengths))
                for rounds in lengths:
                    readings[rounds] = read(product, started, browser, rounds)
    except (AwayError, SendError) as error:
        print(f"{peer.name} ({peer.requirement}): not measured: {error}", flush=True)
    return readings


def _warm_up(product: Product, started: Running, browser: Browser, rounds: int) -> None:
    """A server that has just started reads its own code first; no reader is the one to wait."""
    page = chromium.cold_page(browser)
    page.set_default_timeout(PATIENCE_MS)
    _opens(
        f"{product.peer.name}, first of all", product, page, product.address(started, rounds), []
    )
    page.context.close()


def read(product: Product, started: Running, browser: Browser, rounds: int) -> Reading:
    """Open one run and read it, printing what was seen as it comes."""
    name = f"{product.peer.name}, {rounds:,} rounds"
    address = product.address(started, rounds)
    opened: list[float] = []
    while True:
        page = chromium.cold_page(browser)
        page.set_default_timeout(PATIENCE_MS)
        try:
            if not _opens(name, product, page, address, opened):
                return Reading()
            if len(opened) == OPENINGS or opened[0] > LONG:
                _tell(name, "readable", opened)
                return _read(name, product, page, rounds, opened)
        finally:
            page.context.close()


def _opens(name: str, product: Product, page: Page, address: str, opened: list[float]) -> bool:
    """Open the run once more, and note how long it took; False: it did not, which is told."""

    def wait() -> None:
        page.goto(address)
        product.opened(page)

    taken = _tried(name, "readable", lambda: chromium.timed(wait))
    if taken is not None:
        opened.append(taken)
    return taken is not None


def _read(name: str, product: Product, page: Page, rounds: int, opened: Sequence[float]) -> Reading:
    most = [chromium.elements(page)]
    last = _reached(name, "last", lambda: product.to_last(page, rounds))
    most.append(chromium.elements(page))
    first = _reached(name, "first", lambda: product.to_first(page))
    most.append(chromium.elements(page))
    found = _found(name, product, page, rounds)
    held = max(most), chromium.longest_task(page), chromium.heap(page)
    for part, value in zip(("elements", "longest", "heap"), held, strict=True):
        _tell(name, part, [value])
    return Reading(opened, last, first, found, *held)


def _reached(name: str, part: str, go: Callable[[], str]) -> float | None:
    """Seconds until a round was reached, told with what it took."""
    way = ""

    def wait() -> None:
        nonlocal way
        way = go()

    taken = _tried(name, part, lambda: chromium.timed(wait))
    if taken is not None:
        _tell(name, part, [taken], f", {way}")
    return taken


def _found(name: str, product: Product, page: Page, rounds: int) -> float | None:
    if not product.finds:
        print(f"{name}: its search looks at no texts in a run", flush=True)
        return None
    found = _tried(name, "found", lambda: product.find(page, to_find(rounds)))
    if found is not None:
        _tell(name, "found", [found])
    return found


def _tried(name: str, part: str, act: Callable[[], float]) -> float | None:
    """What the act gives; None where the browser gives up on it, which is told."""
    from playwright.sync_api import Error

    try:
        return act()
    except Error as error:
        print(f"{name}: {PARTS[part][0]}: {error.message.splitlines()[0]}", flush=True)
        return None


def _tell(name: str, part: str, values: Sequence[float], way: str = "") -> None:
    words, unit = PARTS[part]
    print(Figure(f"{name}: {words}{way}", values, unit), flush=True)
