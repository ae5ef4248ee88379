"""`python -m agentdesk.local up|down|backup|restore`, as `./desk` calls it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from agentdesk.environment import state_folder
from agentdesk.local import supervisor
from agentdesk.local.backup import backup, restore
from agentdesk.local.process import LocalError
from agentdesk.local.state import State


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./desk")
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start everything")
    up.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1)")
    up.add_argument("--port", type=int, help="port to listen at (8700 or the next free one)")
    commands.add_parser("down", help="stop what `up` started")
    save = commands.add_parser("backup", help="write database and keys into one file")
    save.add_argument("file", type=Path)
    load = commands.add_parser("restore", help="put a backup back")
    load.add_argument("file", type=Path)
    load.add_argument("--replace", action="store_true", help="in place of what is there")
    asked = parser.parse_args(arguments)
    state = State(state_folder())
    try:
        if asked.command == "up":
            return supervisor.up(state, host=asked.host, port=asked.port)
        if asked.command == "down":
            return supervisor.down(state)
        if asked.command == "backup":
            print(backup(state, asked.file))
        else:
            print(restore(state, asked.file, replace=asked.replace))
        return 0
    except LocalError as error:
        print(f"desk: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
