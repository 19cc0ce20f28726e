"""The command ``kernels``: lists the included kernels."""

import argparse
from typing import Any

from gemmviz.cli.command import Command, add_json, print_json
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.files.codec import to_plain
from gemmviz.model.kernel import KernelSpec
from gemmviz.teaching.lesson_file import kernel_groups


def _run(args: argparse.Namespace) -> int:
    if args.json:
        print_json([_kernel_json(load_kernel(name)) for name in all_kernel_names()])
        return 0
    for number, group in enumerate(kernel_groups()):
        print(f"{chr(10) if number else ''}{group.title}")
        _print_kernels([load_kernel(each.name) for each in group.kernels])
    return 0


def _print_kernels(kernels: list[KernelSpec]) -> None:
    for kernel in kernels:
        values = " ".join(f"-D {name}={value}" for name, value in kernel.defaults.items())
        print(f"  {kernel.name:20} {kernel.title}" + (f"  [{values}]" if values else ""))


def _kernel_json(kernel: KernelSpec) -> dict[str, Any]:
    parameters = [
        {"name": each.name, "default": each.default, "choices": each.choices, "description": each.description}
        for each in kernel.parameters
    ]
    return {
        "name": kernel.name, "title": kernel.title, "description": " ".join(kernel.description.split()), "entry": kernel.entry,
        "problem": to_plain(kernel.problem), "parameters": parameters,
    }  # fmt: skip


COMMAND = Command("list the included kernels", add_json, _run, order=1)
