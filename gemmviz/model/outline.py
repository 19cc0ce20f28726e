"""What the reader process tells of files, without NumPy: kernels with their parameters, launches as formulas over the names of
the host's code, the kinds of sites, and the loop whose trips are phases.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from gemmviz.model.messages import Place, marked

# The kinds of sites, and the loop whose trips are phases: what the reader process needs of a trace, without NumPy.

SiteKind = Literal[
    "load", "store", "copy", "atomic", "barrier", "warp barrier", "init", "arrive", "wait", "matrix", "product", "fence",
    "branch",
]  # fmt: skip
WORDS = (  # of the kinds, for several threads and for one: messages of the catalogue
    marked("load"), marked("store"), marked("copy"), marked("atomic"), marked("barrier"), marked("warp barrier"),
    marked("init"), marked("arrive"), marked("wait"), marked("matrix"), marked("product"), marked("fence"), marked("branch"),
    marked("loads"),
    marked("stores"),
)  # fmt: skip


def phase_loop(holds_barrier: Sequence[bool], loops_of_loads: Iterable[tuple[int, ...]]) -> int:
    """Number of the loop whose trips are the phases: the first that contains a barrier (loops are numbered outermost first),
    else the outermost around a global load, else -1.
    """
    if any(holds_barrier):
        return list(holds_barrier).index(True)
    return next((loops[0] for loops in loops_of_loads if loops), -1)


COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)  # in the text of C++
HostNameKind = Literal["macro", "global", "local", "parameter", "member", "template"]
ArgumentKind = Literal["pointer", "value", "struct", "unread"]
TemplateKind = Literal["type", "value", "template"]


class TemplateParameter(Struct, frozen=True):
    """A template parameter of a kernel. ``type``: of a value, as written, else "". ``default``: as written, "" if none."""

    name: str
    kind: TemplateKind
    type: str = ""
    default: str = ""


class ParameterOutline(Struct, frozen=True):
    """A parameter of a kernel.

    ``type``: as written, ``canonical``: without aliases; ``pointee``: the canonical type that a pointer points to, without
    const, "" if it isn't a pointer; ``is_const``: the pointee is const, so the kernel reads it only; ``fields``: the members of
    a struct.
    """

    name: str
    type: str
    canonical: str
    pointee: str = ""
    is_const: bool = False
    fields: "tuple[ParameterOutline, ...]" = ()

    @property
    def is_pointer(self) -> bool:
        return bool(self.pointee)


class KernelOutline(Struct, frozen=True):
    """A kernel of one of the project's files. ``name`` is qualified by its namespaces: ``ns::sgemm``.

    ``file``: its name below the project's folder; ``place`` in that file, from its first line to the end of its body.
    """

    name: str
    parameters: tuple[ParameterOutline, ...]
    template_parameters: tuple[TemplateParameter, ...]
    file: str
    place: Place


class HostName(Struct, frozen=True):
    """A name that formulas of a launch use. ``value``: what the program gives it if nobody changes it, None if unknown.

    ``macro``: an object-like macro, so that another value can be defined in front of the text; ``global``: a constant of the
    file or an enumerator, which the kernel may use too; ``local``: a variable of the host function; ``parameter``: a parameter
    of the host function, whose value comes from a call of it; ``member``: ``p_M`` of an object p; ``template``: a template
    parameter of the host function.
    """

    name: str
    kind: HostNameKind
    value: int | float | None = None


class ArgumentOutline(Struct, frozen=True):
    """An argument of a launch. ``text``: as written.

    ``kind`` "value": ``formula`` is its value. "pointer": ``buffer`` is the name of the memory, "" for a null pointer, and
    ``formula`` the elements in front of it, counted in the parameter's pointee. "struct": ``fields`` are its members'
    arguments, in order. "unread": none of that is known.
    """

    text: str
    kind: ArgumentKind
    formula: str = ""
    buffer: str = ""
    fields: "tuple[ArgumentOutline, ...]" = ()


class BufferOutline(Struct, frozen=True):
    """Memory that a launch works on, and what the host code does with it.

    ``bytes``: its size as a formula, "" if unknown; ``element_bytes``: of the type that the host code points to it with, 0 if
    unknown; ``is_copied_in``: before the launch, from the host; ``is_copied_out``: after it, to the host; ``is_zeroed``: before
    it, by cudaMemset; ``passed``: "before" and "after" if another function, kernel or pointer may do any of that;
    ``misdirected``: the place of a copy in the wrong direction, None if there is none; ``memory``: "device" if only copies
    reach it, "host" if the device can't reach it, "none" if nothing allocates it, "" for any other.
    """

    name: str
    bytes: str = ""
    element_bytes: int = 0
    is_copied_in: bool = False
    is_copied_out: bool = False
    is_zeroed: bool = False
    passed: frozenset[str] = frozenset()
    misdirected: Place | None = None
    memory: Literal["", "device", "host", "none"] = ""


class UnreadPart(Struct, frozen=True):
    """A part of a launch that can't be read, or not for sure although it has a formula: which part ("grid", "block",
    "shared_bytes", "argument 3", "pointer 3", "template argument T", "launch"), why, and where.
    """

    part: str
    reason: str
    place: Place


class LaunchOutline(Struct, frozen=True):
    """A launch in the host code. Formulas are in the language of launch/formula.py.

    ``kernel``: its qualified name; ``template_arguments``: texts, values as formulas; ``grid`` and ``block``: three formulas
    (x, y, z), or () if unread; ``shared_bytes``: dynamic shared memory; ``allowed_shared_bytes``: what cudaFuncSetAttribute
    allows the kernel, "" if it isn't called; ``names``: every name in the formulas; ``buffers``: the memory that the arguments
    point to; ``file`` and ``place``: of the launch.
    """

    kernel: str
    template_arguments: tuple[str, ...]
    arguments: tuple[ArgumentOutline, ...]
    grid: tuple[str, ...]
    block: tuple[str, ...]
    shared_bytes: str
    file: str
    place: Place
    allowed_shared_bytes: str = ""
    names: tuple[HostName, ...] = ()
    buffers: tuple[BufferOutline, ...] = ()
    unread: tuple[UnreadPart, ...] = ()
    is_cooperative: bool = False

    @property
    def values(self) -> Mapping[str, int | float]:
        """Values of the names that have one."""
        return {each.name: each.value for each in self.names if each.value is not None}

    @property
    def is_dead(self) -> bool:
        """Whether main() never makes the launch, whatever the command line says."""
        return any(each.part == "launch" for each in self.unread)

    @property
    def is_read(self) -> bool:
        """Whether grid, block and shared bytes are known as formulas."""
        return bool(self.grid and self.block and self.shared_bytes)


class FileOutline(Struct, frozen=True):
    """Kernels and launches of a translation unit's project files, in the order of the text."""

    kernels: tuple[KernelOutline, ...] = ()
    launches: tuple[LaunchOutline, ...] = ()

    def launches_of(self, kernel: str) -> tuple[LaunchOutline, ...]:
        """Launches of a kernel by its qualified name."""
        return tuple(launch for launch in self.launches if launch.kernel == kernel)
