"""The program of a kernel with its settings: stored for the kernels that ship with gemmviz, else from the reader process."""

import pickle
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256

import msgspec

from gemmviz.cuda.nodes import Program
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.reader_link import reader
from gemmviz.files.resources import resource
from gemmviz.model.errors import InstallationError, SourceError
from gemmviz.model.kernel import BLANK, KernelSpec, place_in

PROGRAMS = "assets/programs/shipped.bin"  # written by make record WHAT=programs
_NAME = "kernel.cu"  # of a file without a name of its own


def macros_of(spec: KernelSpec, parameters: Mapping[str, int]) -> dict[str, str]:
    """Macros passed with -D: every parameter that the entry doesn't name as a template argument."""
    return {name: str(value) for name, value in parameters.items() if name not in spec.template_arguments}


def entry_of(spec: KernelSpec, parameters: Mapping[str, int]) -> str:
    """The kernel's name with the values of its template arguments, such as ``gemm<32, float>``."""
    arguments = ", ".join(str(parameters.get(each, each)) for each in spec.template_arguments)
    return f"{spec.function}<{arguments}>" if "<" in spec.entry else spec.function


def source_of(spec: KernelSpec, parameters: Mapping[str, int]) -> SourceText:
    """The texts that a kernel is read from."""
    own = spec.own_name or _NAME
    files = {**{each.name: each.text for each in spec.project}, own: spec.text}
    return SourceText(spec.compiled or own, files, own, macros_of(spec, parameters))


def program_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Program:
    """The program of ``spec`` with its parameters set. Raises SourceError with file and place."""
    source = source_of(spec, parameters)
    try:
        return _program(
            source.main, source.shown, tuple(source.files.items()), tuple(source.macros.items()), entry_of(spec, parameters)
        )
    except SourceError as error:
        if error.place is None or error.place.line > spec.text.count("\n") + 1:  # it is about the entry, read behind the text
            error.place = place_in(spec.text, "entry")
        if spec.blanks and error.place is not None and BLANK.search(spec.text.split("\n")[error.place.line - 1]):
            error.remedy = "fill in the blank /*?*/"
        error.in_file(spec.file)
        raise


def check_source(spec: KernelSpec, parameters: Mapping[str, int]) -> None:
    """Check the whole text of a kernel's file, not the kernel alone. Raises SourceError for the first error of a compiler."""
    refusal: SourceError | None = reader().run("refusal", source_of(spec, parameters))
    if refusal is not None:
        refusal.in_file(spec.file)
        raise refusal


@lru_cache(maxsize=64)
def _program(
    main: str, shown: str, files: tuple[tuple[str, str], ...], macros: tuple[tuple[str, str], ...], entry: str
) -> Program:
    source = SourceText(main, dict(files), shown, dict(macros))
    stored = stored_programs().get(stored_name(source, entry))
    program: Program = reader().run("program", source, entry) if stored is None else pickle.loads(stored)
    return program


@cache
def stored_programs() -> dict[str, bytes]:
    """Pickled programs by ``stored_name``: those of the shipped kernels with the values that they and the lessons name."""
    with suppress(InstallationError):
        packed = zlib.decompress(resource(PROGRAMS).read_bytes())
        return msgspec.msgpack.decode(packed, type=dict[str, bytes])
    return {}


def stored_name(source: SourceText, entry: str) -> str:
    """The name under which the program of a kernel is stored; it depends on every text and option that it is read from."""
    read_from = source.main, source.shown, sorted(source.files.items()), sorted(source.macros.items()), entry
    return sha256(repr(read_from).encode()).hexdigest()
