"""The real kernel as a device compiler reads it: the user's text without host functions, and the files that it includes."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from gemmviz.cuda.program_parts import HostCode, Program
from gemmviz.model.errors import Place, SourceError
from gemmviz.model.kernel import KernelSpec

_PROBE = Path(__file__).with_name("probe.cuh")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class DeviceSource(Struct, frozen=True):
    """A text to compile, and the texts of the project that it includes, by the names in its include directives."""

    text: str
    headers: tuple[tuple[str, str], ...] = ()


def real_source(spec: KernelSpec, program: Program, macros: Mapping[str, str]) -> DeviceSource:
    """The kernel's file with its host functions blanked; every line and column is kept.

    The macros take precedence over the file's own of the same name. They are defined in the text: options would define them
    in the compiler's own headers too, where a macro T breaks templates.
    """
    return _source(spec, program, _own_text(spec, program), macros, "")


def probed_source(spec: KernelSpec, program: Program, macros: Mapping[str, str]) -> DeviceSource:
    """The same with a probe at the beginning of the kernel that records in ``gv_book`` where and when each block runs.

    Raises SourceError if the kernel's body begins within a macro or in a header.
    """
    lines = _own_text(spec, program).split("\n")
    at = program.opening
    line = lines[at.line - 1]
    if line[at.column - 1 : at.column] != "{":
        raise SourceError(
            f"the body of {program.name} begins in a macro or in a header, where no probe can be inserted", at, file=spec.file,
            remedy="write its opening brace in the file",
        )  # fmt: skip
    lines[at.line - 1] = f"{line[: at.column]} gv_probe gv;{line[at.column :]}"
    return _source(spec, program, "\n".join(lines), macros, _PROBE.read_text(encoding="utf-8"))


def _source(spec: KernelSpec, program: Program, own: str, macros: Mapping[str, str], before: str) -> DeviceSource:
    """The file to compile, the kernel's own or the one that includes it, where the kernel's file has the text ``own``."""
    texts = {each.name: _blanked(each.text, _within(program.host_code, each.name)) for each in spec.project}
    texts[spec.own_name] = own
    texts = {name: _without_definitions(text, macros) for name, text in texts.items()}
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    text = texts.get(spec.compiled or spec.own_name, own)
    name = (spec.compiled or spec.file).replace("\\", "/").replace('"', "")
    headers = tuple((each, _in_ascii(of)) for each, of in _included(texts).items())
    return DeviceSource(f'{before}{defined}#line 1 "{name}"\n{_in_ascii(text)}', headers)


def _in_ascii(text: str) -> str:
    """The text with universal character names: NVRTC takes those in the names of variables, but no other characters."""
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\U{ord(found[0]):08x}", text)


def _without_definitions(text: str, macros: Mapping[str, str]) -> str:
    """The text with its own definitions of these macros blanked, but for the ends of lines."""
    if not macros:
        return text
    names = "|".join(re.escape(name) for name in macros)
    own = re.compile(rf"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(?:{names})\b(?:\\\n|[^\n])*", re.MULTILINE)
    return own.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _included(texts: dict[str, str]) -> dict[str, str]:
    """Texts by the names under which others include them. A name counts from the folder of the file that includes it, or else
    from the project's folder.
    """
    included: dict[str, str] = {}
    for file, text in texts.items():
        for name in _INCLUDE.findall(text):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(file), name))
            target = next((each for each in (beside, posixpath.normpath(name)) if each in texts), None)
            if target is not None:
                included.setdefault(name, texts[target])
    return included


def _own_text(spec: KernelSpec, program: Program) -> str:
    return _blanked(spec.text, _within(program.host_code, ""))


def _within(host_code: Iterable[HostCode], file: str) -> Iterator[Place]:
    return (each.place for each in host_code if each.file == file)


def _blanked(text: str, places: Iterable[Place]) -> str:
    """The text with these places blanked, but for the ends of lines."""
    lines = text.split("\n")
    for place in places:
        for number in range(place.line, min(place.end_line, len(lines)) + 1):
            line = lines[number - 1]
            start = place.column - 1 if number == place.line else 0
            stop = place.end_column - 1 if number == place.end_line else len(line)
            lines[number - 1] = line[:start] + " " * len(line[start:stop]) + line[stop:]
    return "\n".join(lines)
