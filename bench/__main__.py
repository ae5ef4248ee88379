"""Print figures: `python -m bench [NAME …] [its options]`; without a name, all of them."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench

NOT_MEASUREMENTS = {"__main__", "bare", "figures", "peers"}


def names() -> list[str]:
    """The measurements that there are: the modules of this package."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__))
    return sorted(name for name in found if name not in NOT_MEASUREMENTS)


def main(arguments: list[str]) -> int:
    known = names()
    asked = [argument for argument in arguments if argument in known]
    if arguments and not asked:
        print(f"bench: no measurement named {arguments[0]}; there are: {', '.join(known)}")
        return 2
    options = [argument for argument in arguments if argument not in known]
    failed = 0
    for name in asked or known:
        print(f"== {name}", flush=True)
        module = importlib.import_module(f"bench.{name}")
        if not hasattr(module, "main"):
            module = importlib.import_module(f"bench.{name}.__main__")
        failed |= int(module.main(options) or 0)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
