"""`python -m analysis.cases CASE --agent module:function`: what `./desk replay` runs."""

import sys

from analysis.cases.replay import replay_command

if __name__ == "__main__":
    sys.exit(replay_command(sys.argv[1:]))
