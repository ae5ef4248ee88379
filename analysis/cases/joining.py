"""The harness as one file: its modules joined, in an order in which each finds what it needs."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "analysis.cases.harness"
FOLDER = Path(__file__).with_name("harness")
FIRST = "asking"
ENTRY = """\
if __name__ == "__main__":
    # A loop that imports this file gets these very classes, not a second set of them
    sys.modules[Path(__file__).stem] = sys.modules["__main__"]
    sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True, slots=True)
class _Module:
    """A module taken apart: what it imports, and its text without docstring and imports."""

    doc: str
    plain: frozenset[str]
    from_: frozenset[tuple[str, str]]
    needs: frozenset[str]
    body: str


@cache
def joined_harness() -> str:
    """The text of `harness.py`, which needs nothing but Python. The same sources, the same text."""
    modules = {
        path.stem: _read(path) for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__"
    }
    intro = _read(FOLDER / "__init__.py").doc
    plain = sorted(set().union(*(module.plain for module in modules.values())) | {"sys"})
    names: dict[str, set[str]] = {}
    for module in modules.values():
        for source, name in module.from_:
            names.setdefault(source, set()).add(name)
    lines = [f'"""{intro}"""', "", "from __future__ import annotations", ""]
    lines += [f"import {name}" for name in plain]
    lines += [
        f"from {source} import {', '.join(sorted(names[source]))}" for source in sorted(names)
    ]
    parts = ["\n".join(lines)]
    for name in _in_order(modules):
        heading = "\n".join(f"# {line}".rstrip() for line in modules[name].doc.strip().split("\n"))
        parts.append(f"{heading}\n\n\n{modules[name].body}")
    return "\n\n\n".join([*parts, ENTRY])


def _in_order(modules: dict[str, _Module]) -> list[str]:
    """Names so that each stands after all that it needs; what a loop meets comes first."""
    order: list[str] = []

    def place(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(f"modules of the harness import each other: {', '.join(above)}")
        for needed in sorted(modules[name].needs):
            place(needed, (*above, name))
        if name not in order:
            order.append(name)

    for name in [FIRST, *modules]:
        place(name, ())
    return order


def _read(path: Path) -> _Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    plain: set[str] = set()
    from_: set[tuple[str, str]] = set()
    needs: set[str] = set()
    last = 0
    for node in tree.body:
        if isinstance(node, ast.Import):
            plain |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.startswith(PACKAGE):
                needs.add(node.module.rpartition(".")[2])
            elif node.module != "__future__":
                names = {alias.name for alias in node.names} - {"TYPE_CHECKING"}
                from_ |= {(node.module, name) for name in names}
        elif not _is_docstring(node) and not _is_type_checking(node):
            break
        last = node.end_lineno or 0
    doc = ast.get_docstring(tree, clean=False) or ""
    body = "\n".join(text.splitlines()[last:]).strip("\n")
    return _Module(doc, frozenset(plain), frozenset(from_), frozenset(needs), body)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
