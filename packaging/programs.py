"""Stores the programs of the shipped kernels, so that the program needs no parser for them: make programs."""

import pickle
import zlib
from collections.abc import Iterator

import msgspec

from gemmviz.files.resources import ROOT
from gemmviz.launch.catalog import all_kernel_names, lesson_names, load_kernel
from gemmviz.model.errors import SourceError
from gemmviz.model.kernel import KernelSpec
from gemmviz.parser.source_text import SourceText
from gemmviz.source.program import PROGRAMS, entry_of, source_of, stored_name
from gemmviz.source.program_parts import Program
from gemmviz.source.reader_link import reader
from gemmviz.teaching.lesson_file import shipped_lesson

Parameters = dict[str, int]


def kernels() -> Iterator[tuple[KernelSpec, Parameters]]:
    """The shipped kernels, each with its default values, with every other value that it offers, and as the lessons run it."""
    for kernel in map(load_kernel, all_kernel_names()):
        yield kernel, dict(kernel.defaults)
        for parameter in kernel.parameters:
            for value in parameter.choices or ():
                yield kernel, {**kernel.defaults, parameter.name: value}
    for name in lesson_names():
        for stop in shipped_lesson(name).stops:
            yield stop.shot.setup.kernel, dict(stop.shot.setup.definitions)


def programs() -> dict[str, Program]:
    """The programs by the names under which they are stored, without those of kernels that can't be read yet."""
    wanted: dict[str, tuple[SourceText, str]] = {}
    for kernel, parameters in kernels():
        source, entry = source_of(kernel, parameters), entry_of(kernel, parameters)
        wanted[stored_name(source, entry)] = source, entry
    found: dict[str, Program] = {}
    for name, (source, entry) in wanted.items():
        try:
            found[name] = reader().run("program", source, entry)
        except SourceError:
            continue  # a piece that students complete
    return found


def main() -> None:
    """Write the file."""
    pickled = {name: pickle.dumps(program, protocol=5) for name, program in programs().items()}
    path = ROOT / PROGRAMS
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(pickled), 9))
    print(f"{path.name}: {len(pickled)} programs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
