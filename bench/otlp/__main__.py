"""How fast spans come in: received, masked, stored and analysed, by 4 senders over OTLP/HTTP.

`python -m bench otlp [SPANS] [--peers SPANS]`: how many spans Agentdesk is sent (50,000), and how
many of the same the peers are (2,500; 0 leaves them out): Phoenix takes minutes for 10,000.
"""

from __future__ import annotations

import argparse
import sys

from bench.otlp.load import BATCH
from bench.otlp.ours import measured
from bench.otlp.peers import compared
from bench.otlp.sending import SendError

SPANS = 50_000
OF_PEERS = 2_500


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench otlp", description=__doc__)
    parser.add_argument("spans", nargs="?", type=_whole_requests, default=SPANS)
    parser.add_argument("--peers", type=_whole_requests, default=OF_PEERS, metavar="SPANS")
    options = parser.parse_args(arguments)
    try:
        ours = measured(options.spans)
    except SendError as error:
        sys.exit(str(error))
    if options.peers:
        compared(ours, options.peers)
    return 0


def _whole_requests(text: str) -> int:
    """A number of spans, in whole requests."""
    return int(text) // BATCH * BATCH


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
