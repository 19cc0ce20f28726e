"""A kernel of the corpus with its sizes, written in the names of one author."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.corpus.public_habits.problems import PROBLEMS, Buffer, Problem

_HEAD = re.compile(r"^//// (\w+)  (.*)$", re.MULTILINE)
_TYPE = re.compile(r"\b(unsigned int|float|double|int|long|T)\d?(?: const)?\s*(?:__restrict__ )?(?:\*|\(\*|>)")
_SIZE, _ARRAY = re.compile(r"\$(\w+)"), re.compile(r"@(\w+)")
_EXPECT = re.compile(r"EXPECT\((.*?), (.*)\);")
_INCLUDES = {
    "assert(": "assert.h",
    "FLT_MAX": "float.h",
    "INFINITY": "math.h",
    "tanh": "math.h",
    "exp(": "math.h",
    "fabs": "math.h",
}


@dataclass(frozen=True)
class Piece:
    """A kernel without its host: texts of its launch over ``$M`` (sizes) and ``$A`` (buffers)."""

    name: str
    author: str
    problem: str
    block: str
    grid: str
    args: str
    text: str
    call: str = ""
    shared: str = ""
    fits: str = ""  # "32=32": sizes are multiples of 32; "16=16 K16": and K is 16
    sizes: str = ""
    macro: str = ""

    @cached_property
    def element_type(self) -> str:
        start = self.text.index(f" {self.name}(") if f" {self.name}(" in self.text else self.text.index(f"{self.name}(")
        found = _TYPE.search(self.text, start)
        assert found is not None, self.name
        return "float" if found[1] == "T" else found[1]


def read_pieces(folder: Path) -> dict[str, Piece]:
    """All kernels of the folder's files, by name."""
    pieces = {}
    for path in sorted(folder.glob("*.cu")):
        parts = _HEAD.split(path.read_text())
        for name, head, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            facts = dict(each.split(": ", 1) for each in head.strip().split("  "))
            pieces[name] = Piece(name, path.stem, text=text.strip() + "\n", **facts)
    return pieces


@dataclass(frozen=True)
class Names:
    """How an author names things: formats of host and device arrays, names of sizes, and how a division is rounded up."""

    host: str = "h_{}"
    device: str = "d_{}"
    sizes: dict[str, str] = field(default_factory=dict)
    ceil: str = "({x} + {t} - 1) / {t}"
    lower: bool = False
    literals: bool = False  # alpha and beta are written as numbers


@dataclass(frozen=True)
class Case:
    """One kernel, its sizes, and an author's names."""

    piece: Piece
    values: dict[str, int]
    names: Names
    variant: int = 0

    @property
    def problem(self) -> Problem:
        return PROBLEMS[self.piece.problem]

    @property
    def type(self) -> str:
        return self.piece.element_type

    @property
    def name(self) -> str:
        return self.piece.name

    @property
    def called(self) -> str:
        return self.piece.call or self.piece.name

    @cached_property
    def _macros(self) -> dict[str, str]:
        names = self.piece.macro.split()
        return dict(zip(self.problem.sizes, names, strict=False))

    def size(self, name: str) -> str:
        return self._macros.get(name) or self.names.sizes.get(name, name)

    def host(self, name: str) -> str:
        return self.names.host.format(name.lower() if self.names.lower else name)

    def device(self, name: str) -> str:
        return self.names.device.format(name.lower() if self.names.lower else name)

    def text(self, template: str) -> str:
        """A template with sizes, arrays and rounded divisions in the author's words."""
        arrays = {each.name for each in self.problem.buffers}

        def dollar(match: re.Match[str]) -> str:
            name = match[1]
            if name in arrays:
                return self.device(name)
            scalar = self.problem.scalars.get(name)
            if scalar is not None:
                return self.text(scalar) if scalar.startswith("$") or self.names.literals else name
            return self.size(name)

        text = _SIZE.sub(dollar, template)
        return self._rounded(_ARRAY.sub(lambda match: self.host(match[1]), text))

    def _rounded(self, text: str) -> str:
        for word in ("CEIL(", "DIV("):
            while (at := re.search(rf"(?<!\w){re.escape(word)}", text)) is not None:
                end, depth = at.end(), 1
                comma = 0
                while depth:
                    depth += (text[end] == "(") - (text[end] == ")")
                    if text[end] == "," and depth == 1:
                        comma = end
                    end += 1
                x, t = text[at.end() : comma].strip(), text[comma + 1 : end - 1].strip()
                x = f"({x})" if " " in x else x
                form = self.names.ceil if word == "CEIL(" else "{x} / {t}"
                if "{less}" in form:
                    less = str(int(t.rstrip("Uu")) - 1) if t.rstrip("Uu").isdigit() else f"{t} - 1"
                    form = form.replace("{less}", less)
                text = text[: at.start()] + form.format(x=x, t=t) + text[end:]
        return text

    def split(self, formulas: str) -> list[str]:
        """Formulas between commas outside brackets."""
        parts, depth, part = [], 0, ""
        for letter in formulas:
            depth += (letter in "({[<") - (letter in ")}]>")
            if letter == "," and depth == 0:
                parts.append(part.strip())
                part = ""
            else:
                part += letter
        return [self.text(each) for each in (*parts, part.strip())]

    @property
    def grid(self) -> str:
        return ", ".join(self.split(self.piece.grid))

    @property
    def block(self) -> str:
        return ", ".join(self.split(self.piece.block))

    @property
    def args(self) -> str:
        return self.text(self.piece.args)

    @property
    def shared(self) -> str:
        return self.text(self.piece.shared)

    def config(self, grid: str, block: str, stream: str = "") -> str:
        """What stands between ``<<<`` and ``>>>``."""
        tail = f", {self.shared or 0}" if self.shared or stream else ""
        return f"{grid}, {block}{tail}{f', {stream}' if stream else ''}"

    @cached_property
    def kernel(self) -> str:
        """The kernel's text, below the macros that it needs."""
        macros = "".join(f"#define {macro} {self.values[name]}\n" for name, macro in self._macros.items())
        return macros + ("\n" if macros else "") + self.piece.text

    def includes(self, *names: str) -> str:
        needed = [each for word, each in _INCLUDES.items() if word in self.piece.text + self.problem.check]
        return "".join(f"#include <{each}>\n" for each in dict.fromkeys((*names, *needed)))

    def declared(self, form: str) -> str:
        """One declaration for each size that is no macro: ``{name}`` and ``{value}``; scalars like alpha follow."""
        sizes = [
            form.format(name=self.size(each), value=value, canonical=each)
            for each, value in self.values.items()
            if each not in self._macros
        ]
        return "\n".join(sizes)

    def scalars(self, form: str = "{type} {name} = {value};") -> str:
        kind = "double" if self.type == "double" else "float"
        pairs = [(name, value) for name, value in self.problem.scalars.items() if not value.startswith("$")]
        return "\n".join(form.format(type=kind, name=name, value=value) for name, value in pairs)

    def all(self, form: str, roles: str = "in out inout zero", joint: str = "\n") -> str:
        """One text for each buffer of these roles: ``{h}``, ``{d}``, ``{n}`` (count), ``{t}`` (type), ``{b}`` (name)."""
        wanted = roles.split()
        return joint.join(self.one(form, each) for each in self.problem.buffers if each.role in wanted)

    def one(self, form: str, each: Buffer) -> str:
        values = {
            "h": self.host(each.name), "d": self.device(each.name), "t": self.type, "b": each.name, "n": self.text(each.count),
        }  # fmt: skip
        for key, value in values.items():
            form = form.replace(f"{{{key}}}", value)
        return form

    def fills(self, form: str) -> str:
        """Loops that fill the inputs; ``{v}`` in the form is one random value."""
        inout = self.all("for (int i = 0; i < {n}; i++) {h}[i] = i % 5;", "inout")
        return "\n".join(each for each in (self.all(form, "in"), inout) if each)

    def check(self, compare: str) -> str:
        """The loops that check the result; ``{g}`` is what the kernel gave, ``{w}`` what is right."""
        put: Callable[[re.Match[str]], str] = lambda match: compare.replace("{g}", match[1]).replace("{w}", match[2])  # noqa: E731
        return self.text(_EXPECT.sub(put, self.problem.check))

    @property
    def tolerance(self) -> str:
        return "0" if self.type in ("int", "unsigned int", "long") else "1e-3"


def indented(text: str, by: int = 4) -> str:
    return "\n".join(f"{' ' * by}{line}" if line and not line.startswith("#") else line for line in text.split("\n"))
