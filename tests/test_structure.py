"""Limits that keep the source readable: lengths of files and functions, one meaning for each public name, docstrings."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.budget import budget, excess, measured, modules

MOST_FILE_LINES, MOST_FUNCTION_LINES, MOST_SHARED_NAMES = 600, 60, 10
EXTENSION_POINTS = {"VIEW", "PANEL", "COMMAND", "FORMAT", "SUBJECT", "QUIZ_KIND", "VERSION", "KIND"}
FRAGMENTS = (
    "Likewise",
    "Those ",
    "That of",
    "Them",
    "As it",
    "By its",
    "And ",
    "Of ",
    "In words",
    "Also ",
    "Into ",
    "So ",
    "Once ",
)


def public_names(module: ast.Module) -> Iterator[str]:
    """Names of the functions, classes and constants that a module defines for others."""
    for node in module.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names = [name]
            case ast.Assign(targets=targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from (name for name in names if not name.startswith("_") and name not in EXTENSION_POINTS)


def test_the_code_keeps_to_its_budget() -> None:
    assert excess(measured(), budget()) == []


def test_files_are_short() -> None:
    assert [f"{each.path}: {each.lines} lines" for each in modules() if each.lines > MOST_FILE_LINES] == []


def test_functions_are_short() -> None:
    long = [
        f"{module.path}:{node.lineno} {node.name}"
        for module in modules()
        for node in module.all_nodes
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert long == []


def test_public_names_have_one_meaning() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for name in public_names(module.tree):
            places[name].add(str(module.path))
    shared = {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}
    assert len(shared) <= MOST_SHARED_NAMES, shared


def test_docstrings_begin_with_what_they_are_about() -> None:
    fragments = [
        f"{module.path}:{node.lineno} {node.name}: {text}"
        for module in modules()
        for node in module.all_nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and (text := (ast.get_docstring(node) or "").partition("\n")[0]).startswith(FRAGMENTS)
    ]
    assert fragments == []
