"""The mass of the code beside its budget: ``python -m tests.budget`` prints both for each room.

``tests/budget.toml`` holds the most that each room may have. It falls when the code does (``--lower``); raise it by hand, with the reason in the commit.
"""

import argparse
import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import tomli_w

ROOT = Path(__file__).parents[1]
PACKAGE, FILE = ROOT / "gemmviz", Path(__file__).with_name("budget.toml")
ROOM = ("code lines", "nodes", "files")
_FEW_LINES = 80
Look = Callable[["Module", list[ast.AST]], None]
# Parts of pages that are made, between two comments, and pages that are made as a whole.
_GENERATED = re.compile(r"<!-- (?:(\w+): )?made by make.*?-->.*?(?:<!-- end of \1 -->|\Z)", re.DOTALL)
_SLACK = dict.fromkeys(("code lines", "nodes", "words of documentation"), 1.01)


class Module:
    """One file: the numbers of its lines of code, of imports and of nodes; blank lines, comments and docstrings are none of
    these. ``names``: its functions, classes and constants at the top level.
    """

    def __init__(self, path: Path, look: Look) -> None:
        text = path.read_text(encoding="utf-8")
        self.path, self.lines = path.relative_to(PACKAGE), text.count("\n")
        self.room = self.path.parts[0] if len(self.path.parts) > 1 else "top"
        self.name = ".".join(("gemmviz", *self.path.with_suffix("").parts)).removesuffix(".__init__")
        tree = ast.parse(text)
        nodes = nodes_of(tree)
        words, imports = set[int](), set[int]()
        self._imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        for each in self._imports:
            imports |= set(range(each.lineno, (each.end_lineno or 0) + 1))
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                words |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        used = {
            number for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")
        }
        self.imports = len(imports)
        self.code = len(used - words - imports)
        self.nodes = len(nodes)
        self.names = set(names_in(tree))
        look(self, nodes)

    def imported(self, known: set[str]) -> Iterator[str]:
        """Names of the package's modules that this one imports, at any depth."""
        for node in self._imports:
            if isinstance(node, ast.Import):
                yield from (each.name for each in node.names if each.name in known)
            elif node.module:
                inner = [f"{node.module}.{each.name}" for each in node.names]
                yield from (each if each in known else node.module for each in inner if each in known or node.module in known)


def names_in(tree: ast.Module) -> Iterator[str]:
    """Functions, classes and constants at the top level."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """All nodes, as ``ast.walk`` yields them, in less time."""
    found = [tree]
    for node in found:
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
    return found


def modules(look: Look = lambda module, nodes: None) -> list[Module]:
    """The modules of the package. ``look`` sees the nodes of each, which are not kept: those of all would fill the memory."""
    return [Module(path, look) for path in sorted(PACKAGE.rglob("*.py"))]


def measured(every: list[Module] | None = None) -> dict[str, dict[str, float]]:
    """Figures of each room, of the whole package, and of what lies beside it."""
    every = every or modules()
    known = {each.name for each in every}
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    importers, places, arrows = defaultdict[str, set[str]](set), Counter[str](), set[tuple[str, str]]()
    room_of = {each.name: each.room for each in every}
    for module in every:
        rooms[module.room].update({"code lines": module.code, "nodes": module.nodes, "files": 1})
        places.update(module.names)
        for other in set(module.imported(known)) - {module.name}:
            importers[other].add(module.name)
            if room_of[other] != module.room:
                arrows.add((module.room, room_of[other]))
    code, imports = sum(each.code for each in every), sum(each.imports for each in every)
    small = [each for each in every if each.lines < _FEW_LINES and len(importers[each.name]) == 1]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    docs = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    whole: dict[str, float] = {
        "code lines": code,
        "nodes": sum(each.nodes for each in every),
        "files": len(every),
        "imports, % of the lines with code": round(100 * imports / (imports + code), 1),
        f"modules of less than {_FEW_LINES} lines with one importer": len(small),
        "names defined in several files": sum(count > 1 for count in places.values()),
        "arrows between rooms": len(arrows),
        "make targets": len(set(re.findall(r"^([a-z][\w -]*):(?!=)", makefile, re.MULTILINE))),
        "files of packaging": sum(
            path.is_file() and "__pycache__" not in path.parts for path in (ROOT / "packaging").rglob("*")
        ),
        "words of documentation": sum(len(_GENERATED.sub("", path.read_text(encoding="utf-8")).split()) for path in docs),
    }
    return {"whole": whole, **{room: dict(counts) for room, counts in sorted(rooms.items())}}


def budget() -> dict[str, dict[str, float]]:
    """The most of each figure."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def excess(now: dict[str, dict[str, float]], most: dict[str, dict[str, float]]) -> list[str]:
    """Figures above their budget, one sentence each. Lines, nodes and words may exceed it by a little, so that a correction needs
    no new budget.
    """
    return [
        f"{room}: {name} {value:g}, the budget is {most.get(room, {}).get(name, 0):g}"
        for room, figures in now.items()
        for name, value in figures.items()
        if value > most.get(room, {}).get(name, 0) * _SLACK.get(name, 1.0)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lower", action="store_true", help="write what is less than the budget as the budget")
    args = parser.parse_args()
    now, most = measured(), budget() if FILE.exists() else {}
    for room, figures in now.items():
        for name, value in figures.items():
            limit = most.get(room, {}).get(name, 0)
            if room == "whole" or value != limit:
                print(f"{room:10} {name:48} {value:10g} {value - limit:+8g}")
    if args.lower:
        lower = {
            room: {name: min(value, most.get(room, {}).get(name, value)) for name, value in figures.items()}
            for room, figures in now.items()
        }
        FILE.write_text(tomli_w.dumps(lower), encoding="utf-8")


if __name__ == "__main__":
    main()
