"""The command ``kernels``: lists the included kernels."""

import argparse
from typing import Any

from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.files.codec import to_plain
from gemmviz.launch.catalog import kernel_names, lesson_kernel_names, load_kernel, pattern_kernel_names
from gemmviz.model.kernel import KernelSpec


def _run(args: argparse.Namespace) -> int:
    kernels = [load_kernel(name) for name in kernel_names()]
    others = [load_kernel(name) for name in pattern_kernel_names()]
    lessons = [load_kernel(name) for name in lesson_kernel_names()]
    if args.json:
        print_json([_facts(kernel) for kernel in (*kernels, *others, *lessons)])
        return 0
    _list(kernels)
    print("\nof other problems:")
    _list(others)
    print("\nin lessons:")
    _list(lessons)
    return 0


def _list(kernels: list[KernelSpec]) -> None:
    for kernel in kernels:
        values = " ".join(f"-D {name}={value}" for name, value in kernel.defaults.items())
        print(f"{kernel.name:20} {kernel.title}" + (f"  [{values}]" if values else ""))


def _facts(kernel: KernelSpec) -> dict[str, Any]:
    parameters = [
        {"name": each.name, "default": each.default, "choices": each.choices, "description": each.description}
        for each in kernel.parameters
    ]
    return {
        "name": kernel.name, "title": kernel.title, "description": " ".join(kernel.description.split()), "entry": kernel.entry,
        "problem": to_plain(kernel.problem), "parameters": parameters,
    }  # fmt: skip


COMMAND = Command("list the included kernels", add_json, _run, order=1)
