"""The run page and the run list: queries, size, elements, server time, and what a person waits for.

The same run with 52, 1,000, 5,000 and 32,843 rounds (`--rounds N …`), and the example, in a
database of its own on the servers of the tests. With a Chromium on this machine also how long it
takes until the first odd round is there, and from a key until the last round, a round by its
number, and what is found; the longest task of a script, and the most elements while one scrolls.

`--peers` reads the same runs in Inspect View, Phoenix and MLflow, each in an environment of its own
(`--peers phoenix`: in that one alone), at those of the lengths that are up to 5,000, or at
`--peer-rounds N …`, and prints their ratios to ours of the same go.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator, Sequence
from dataclasses import replace

from bench.figures import Figure
from bench.pages.browser import ACCOUNT, PASSWORD, Readings, in_a_browser
from bench.pages.runs import LENGTHS, a_long_record
from bench.pages.served import database
from bench.pages.server import on_the_server
from bench.peers.beside import NAMES, beside

# Some of the peers take minutes for a longer one, and gigabytes.
LONGEST_OF_PEERS = 5_000


def main(arguments: list[str]) -> int:
    asked = parsed(arguments)
    ours = _printed(_ours(sorted({*asked.rounds, *asked.peer_rounds})))
    if asked.peers is not None:
        beside(asked.peers, asked.peer_rounds, ours)
    return 0


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """The options: `rounds`, `peers` (names; None: without them) and `peer_rounds`."""
    parser = argparse.ArgumentParser(prog="bench pages")
    parser.add_argument("--rounds", type=int, nargs="+", default=LENGTHS, metavar="N")
    parser.add_argument("--peers", nargs="*", choices=NAMES, help="read the same runs in peers")
    parser.add_argument("--peer-rounds", type=int, nargs="+", metavar="N")
    asked = parser.parse_args(arguments)
    if asked.peers == []:
        asked.peers = list(NAMES)
    if asked.peers is None:
        asked.peer_rounds = []
    elif asked.peer_rounds is None:
        asked.peer_rounds = [each for each in asked.rounds if each <= LONGEST_OF_PEERS]
    return asked


def _printed(figures: Generator[Figure, None, Readings]) -> Readings:
    """Print figures as they come; what their generator returns."""
    while True:
        try:
            print(next(figures), flush=True)
        except StopIteration as end:
            readings: Readings = end.value
            return readings


def _ours(lengths: Sequence[int]) -> Generator[Figure, None, Readings]:
    with database():
        from tests.factories import a_member, a_project, a_user
        from tests.page_runs import a_shown_run, the_vpn_run
        from transcripts.choices import Role

        project = a_project("bench")
        a_member(project, Role.ADMIN, user=a_user(ACCOUNT, PASSWORD))
        example = the_vpn_run(project)
        runs = [
            a_shown_run(replace(a_long_record(rounds), run_id=f"long-{rounds}"), project)
            for rounds in lengths
        ]
        yield from on_the_server(project, example, runs)
        return (yield from in_a_browser(example, *runs))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
