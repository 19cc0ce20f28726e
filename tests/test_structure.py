"""Limits that keep the source readable: lengths of files and functions, one meaning for each public name, docstrings."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tests.budget import Module, budget, excess, measured, modules

MOST_FILE_LINES, MOST_FUNCTION_LINES, MOST_SHARED_NAMES = 600, 60, 10
EXTENSION_POINTS = {"VIEW", "PANEL", "COMMAND", "FORMAT", "SUBJECT", "QUIZ_KIND", "VERSION", "KIND"}
EXTENSION_POINTS |= {"FAMILIES", *(f"{each}S" for each in EXTENSION_POINTS)}
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


PARSING = {
    "split", "rsplit", "splitlines", "partition", "rpartition", "removeprefix", "removesuffix", "rfind", "startswith", "endswith",
    "isdigit", "isdecimal",
}  # fmt: skip
READERS_OF_TEXT = {
    "scenes/catalog.py",  # the name of a function
    "scenes/kit/primitives.py",  # where lines break
    "scenes/kit/sentence.py",  # whether a sentence begins with its count
    "scenes/stage/cells.py",  # a number in few characters
    "scenes/views/measured_view.py",  # a number as a power of ten
    "scenes/kit/table.py",  # the source
    "scenes/stage/words.py",  # the source
    "scenes/views/source_view.py",  # the source
    "scenes/views/fragment_view.py",  # the name of an instruction
}
PRIMITIVES = {"Cells", "Rects", "Lines", "Labels", "Squares"}


def reads_text(node: ast.AST) -> bool:
    """Whether a node takes a text apart, other than into lines, or at all spaces."""
    match node:
        case ast.Call(func=ast.Attribute(attr="split"), args=[] | [ast.Constant(value="\n")]):
            return False
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in PARSING
        case ast.Import(names=[ast.alias(name="re")]):
            return True
    return False


def reads_key(node: ast.AST) -> bool:
    """Whether a node decides by the key of a primitive."""
    match node:
        case ast.Compare(left=ast.Attribute(attr="key"), comparators=[ast.Constant() | ast.Set() | ast.Tuple()]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="key"), attr=name)):
            return name in PARSING
        case ast.MatchClass(cls=ast.Name(id=name), kwd_attrs=names):
            return name in PRIMITIVES and "key" in names
    return False


ROOMS_WITHOUT_TEXTS = ("scenes/", "session/", "shots/", "gui/", "teaching/", "render/")


@cache
def read() -> tuple[list[Module], dict[str, list[str]]]:
    """The modules, and what breaks a rule of their nodes."""
    found = defaultdict[str, list[str]](list)
    places = defaultdict[str, set[str]](set)

    def look(module: Module, nodes: list[ast.AST]) -> None:
        path = module.path.as_posix()
        assert isinstance(nodes[0], ast.Module)
        for name in public_names(nodes[0]):
            places[name].add(path)
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = (ast.get_docstring(node) or "").partition("\n")[0]
                if text.startswith(FRAGMENTS):
                    found["docstrings that begin without what they are about"].append(f"{path}:{node.lineno} {text}")
                if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES:
                    found["long functions"].append(f"{path}:{node.lineno} {node.name}")
        if path.startswith(ROOMS_WITHOUT_TEXTS):
            has_texts = not path.startswith(ROOMS_WITHOUT_TEXTS[:2]) or path in READERS_OF_TEXT
            found["readers of a text or a key of a picture"] += [
                f"{path}:{getattr(node, 'lineno', 0)}"
                for node in nodes
                if (not has_texts and reads_text(node)) or (path != "scenes/kit/primitives.py" and reads_key(node))
            ]

    every = modules(look)
    shared = {name: sorted(paths) for name, paths in places.items() if len(paths) > 1}
    if len(shared) > MOST_SHARED_NAMES:
        found["public names with several meanings"] += [f"{name}: {paths}" for name, paths in shared.items()]
    return every, found


def test_the_code_keeps_to_its_budget() -> None:
    assert excess(measured(read()[0]), budget()) == []


def test_files_are_short() -> None:
    assert [f"{each.path}: {each.lines} lines" for each in read()[0] if each.lines > MOST_FILE_LINES] == []


def test_functions_names_docstrings_and_pictures_keep_to_the_rules() -> None:
    """What a primitive stands for is its meaning, and what a sentence says is known before it is written."""
    assert {rule: places for rule, places in read()[1].items() if places} == {}
