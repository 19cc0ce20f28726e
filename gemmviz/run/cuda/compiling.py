"""Compilation of CUDA C with NVRTC, whose errors get a place in the user's file."""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import cupy
from cupy.cuda import driver, function, nvrtc
from msgspec import Struct, structs

from gemmviz.cuda.parser.source_text import missing_remedy
from gemmviz.model.device import Gpu
from gemmviz.model.messages import Place, SourceError
from gemmviz.model.timing import MachineCode
from gemmviz.run.cuda.toolkit import ALWAYS, HEADERS, disassemblers, include_folders, machine_code, without_includes

_MOST_CACHED = 64
_COMPILERS, _MOST_AHEAD = 2, 32  # number of threads that compile ahead, and of functions in the cache
_MISSING = re.compile(r'cannot open source file "([^"]+)"')
_NOT_ON_TARGET = "not supported on .target"
_LINE_ONE = re.compile(r'^#line 1 "(.*)"\n', re.MULTILINE)  # before it is what is not in the user's file
_OF_HOST = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"](thrust/[^>"\n]+)[>"]', re.MULTILINE)  # what NVRTC can't compile
_ERROR = re.compile(r"^(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?:\s*(?P<what>.*)$", re.MULTILINE)


class NvrtcUnit(Struct, frozen=True):
    """Input of NVRTC: a file's text, the name expression of a function in it, such as "sgemm<64>", options, and texts that it
    includes, by name.
    """

    text: str
    file: str
    entry: str
    options: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


class Compiled(Struct, frozen=True):
    """A compiled function on the GPU. Bytes and registers are per thread, shared memory is what a block declares."""

    module: object
    handle: int
    registers: int
    shared_bytes: int
    local_bytes: int
    max_threads: int

    def address_of(self, variable: str) -> int:
        """Address on the GPU of a variable of the module with C linkage."""
        return int(driver.moduleGetGlobal(self.module.ptr, variable))  # type: ignore[attr-defined]


class Nvrtc:
    """A compiler for one GPU with a cache of recent functions."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self._cache: OrderedDict[NvrtcUnit, Compiled] = OrderedDict()
        self._ahead: dict[NvrtcUnit, Future[tuple[bytes, Any]]] = {}
        self._compilers = ThreadPoolExecutor(_COMPILERS, thread_name_prefix="nvrtc")

    def __call__(self, unit: NvrtcUnit) -> Compiled:
        """The compiled function of a unit, loaded. Raises SourceError with NVRTC's message."""
        compiled = self._cache.pop(unit, None)
        if compiled is None:
            compiled = _loaded(*self._code(unit))
        self._cache[unit] = compiled
        if len(self._cache) > _MOST_CACHED:
            self._cache.popitem(last=False)
        return compiled

    def compile_ahead(self, units: Iterable[NvrtcUnit]) -> None:
        """Compiles these units in the background, and drops earlier units that have not been begun."""
        for unit, code in list(self._ahead.items()):
            if code.cancel() or (code.done() and len(self._ahead) > _MOST_AHEAD):
                del self._ahead[unit]
        for unit in units:
            if unit not in self._cache and unit not in self._ahead:
                self._ahead[unit] = self._compilers.submit(self._compiled, unit)

    def machine_code(self, unit: NvrtcUnit) -> MachineCode | None:
        """What a disassembler lists of a unit; None without a disassembler."""
        if not disassemblers():
            return None
        code, _ = self._compiled(structs.replace(unit, options=(*unit.options, "--generate-line-info")))
        code += b"\0" * (-len(code) % 8)  # CuPy drops the last byte
        return machine_code(code, unit.file, f"{self.gpu.compiler}, {self.gpu.architecture}")

    def close(self) -> None:
        """Begins no further compilations ahead."""
        self._compilers.shutdown(wait=False, cancel_futures=True)

    def _code(self, unit: NvrtcUnit) -> tuple[bytes, Any]:
        begun = self._ahead.pop(unit, None)
        return self._compiled(unit) if begun is None or begun.cancel() else begun.result()

    def _compiled(self, unit: NvrtcUnit) -> tuple[bytes, Any]:
        """The code, and the name of the function in it. Headers that only the file's project has, and those of host libraries,
        are left out, as in the interpreter. Instructions of one architecture alone need its own target, such as sm_90a.
        """
        target = self.gpu.architecture
        left_out = [name for text in (unit.text, *dict(unit.headers).values()) for name in _OF_HOST.findall(text)]
        while True:
            headers = tuple((name, without_includes(text, left_out)) for name, text in unit.headers)
            try:
                return self._cubin(structs.replace(unit, text=without_includes(unit.text, left_out), headers=headers), target)
            except SourceError as error:
                if _NOT_ON_TARGET in error.message and target == self.gpu.architecture:
                    target += "a"
                    continue
                missing = _MISSING.search(error.message)
                if missing is None or missing[1] in left_out:
                    error.remedy = error.remedy or missing_remedy(left_out)
                    raise
                left_out.append(missing[1])

    def _cubin(self, unit: NvrtcUnit, target: str) -> tuple[bytes, Any]:
        named = HEADERS | dict(unit.headers)
        headers = tuple(tuple(each.encode() for each in texts) for texts in (named.values(), named))
        architecture = f"--gpu-architecture={target}"
        always = architecture, "--std=c++17", f"--pre-include={ALWAYS}", "--device-as-default-execution-space"
        options = *always, *_include_options(), *unit.options
        program = nvrtc.createProgram(unit.text, unit.file, *headers)
        try:
            nvrtc.addNameExpression(program, unit.entry)
            try:
                nvrtc.compileProgram(program, options)
            except nvrtc.NVRTCError:
                raise compile_error(nvrtc.getProgramLog(program), unit.text, unit.file) from None
            return nvrtc.getCUBIN(program), nvrtc.getLoweredName(program, unit.entry)
        finally:
            nvrtc.destroyProgram(program)


@cache
def _include_options() -> tuple[str, ...]:
    """The options that name the folders with CUDA's own headers: a toolkit's, a wheel's or CuPy's; empty if there are none."""
    package = Path(cupy.__file__).parent
    roots = (cupy.cuda.get_cuda_path(), os.environ.get("CUDA_PATH"))
    folders = include_folders(package, [Path(root) for root in roots if root], [Path("/usr/local/cuda/include")])
    return tuple(f"-I{each}" for each in folders)


def _loaded(code: bytes, name: Any) -> Compiled:
    module = function.Module()
    module.load(code)
    handle = module.get_function(name if isinstance(name, str) else name.decode())

    def attribute(number: int) -> int:
        return int(driver.funcGetAttribute(number, handle.ptr))

    return Compiled(
        module=module,
        handle=handle.ptr,
        registers=attribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS),
        shared_bytes=attribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        local_bytes=attribute(driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        max_threads=attribute(driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
    )


def compile_error(log: str, text: str, file: str) -> SourceError:
    """The first error in a compiler's log, with its place if it is in the file itself."""
    match = _ERROR.search(log)
    if match is None:
        return SourceError(f"the CUDA compiler rejects the kernel: {log.strip() or 'it gives no reason'}", file=file)
    own = _LINE_ONE.search(text)
    text = text[own.end() :] if own else text
    is_own = match["file"] in (file, own and own[1], "")
    place = _error_place(log[match.end() :], text, int(match["line"])) if is_own else None
    where = "" if is_own else f" ({match['file']}, line {match['line']})"
    return SourceError(f"the CUDA compiler says: {match['what'].strip()}{where}", place, file=file)


def _error_place(after: str, text: str, line: int) -> Place:
    """Line and column of an error; the compiler prints the line and a caret below it."""
    printed, caret = ([*after.splitlines(), "", "", ""])[1:3]
    lines = text.splitlines()
    column = 1
    if caret.strip() == "^" and printed.strip() and 0 < line <= len(lines) and printed.strip() in lines[line - 1]:
        indented = len(printed) - len(printed.lstrip())
        column = lines[line - 1].index(printed.strip()) + caret.index("^") - indented + 1
    return Place(line, max(1, column), line, max(1, column) + 1)


def free_memory() -> int:
    """Bytes that are free on the GPU, including those in CuPy's cache."""
    return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
