"""Compiles files of the corpus for the host with g++ and runs them: ``python -m tests.corpus.public_habits.verify``.

Each thread of a block is a fiber (``on_host/cuda_runtime.h``); the address sanitizer reports accesses out of range.
"""

import argparse
import fnmatch
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.corpus.public_habits.corpus import FOLDER, entries

_LAUNCH = re.compile(r"((?:\(?[\w:]+(?:\[\w+\])?(?:<[^;{}]*?>)?\)?))\s*<<\s*<([^;]*?)>>\s*>\s*\(")
_DYNAMIC = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[\];")
_FLAGS = [
    "-std=c++17",
    "-O1",
    "-w",
    "-fno-strict-aliasing",
    "-fsanitize=address",
    "-fno-omit-frame-pointer",
    "-include",
    "cuda_runtime.h",
]


def for_host(text: str) -> str:
    """A file of CUDA as C++: launches become calls, shared arrays static ones."""
    text = _DYNAMIC.sub(r"\1* \2 = (\1*)emu::dyn;", text).replace("__shared__", "static")
    out, at = "", 0
    while (found := _LAUNCH.search(text, at)) is not None:
        end, depth = found.end(), 1
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        out += (
            text[at : found.start()] + f"emu::launch(emu::Config({found[2]}), [&] {{ {found[1]}({text[found.end() : end]}; }})"
        )
        at = end
    return out + text[at:]


def outcome(files: dict[str, str], main: str, flags: tuple[str, ...] = ()) -> str:
    """ "ok", or why a program doesn't compile or gives a wrong result."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(for_host(text))
        sources = (
            [str(Path(folder) / each) for each in files if each.endswith((".cu", ".cpp"))]
            if len(files) > 1
            else [str(Path(folder) / main)]
        )
        includes = [f"-I{FOLDER / 'on_host'}", f"-I{folder}", f"-I{folder}/include", f"-I{folder}/common"]
        binary = f"{folder}/program"
        made = subprocess.run(
            ["g++", *_FLAGS, *includes, *flags, "-x", "c++", *sources, "-o", binary],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            return "compile: " + next((line for line in made.stderr.splitlines() if "error" in line), made.stderr[:200])
        try:
            ran = subprocess.run(
                [binary],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
                env={"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"},
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        if ran.returncode:
            sanitizer = re.search(r"AddressSanitizer: ([\w-]+)", ran.stderr)
            return f"exit {ran.returncode}: {sanitizer[1] if sanitizer else (ran.stdout + ran.stderr)[-80:].strip()!r}"
        return "ok"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    bad = 0
    chosen = [each for each in entries() if fnmatch.fnmatch(each.name, args.only)][:: args.every]
    for entry in chosen:
        said = outcome(entry.small or entry.files, entry.main)
        if said != "ok":
            bad += 1
            print(f"{entry.name}: {said}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} right")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
