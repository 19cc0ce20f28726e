"""Commands that list what gemmviz has: kernels, and extensions."""

import argparse
from typing import Any

from gemmviz.cli.command import Command, add_json, print_error, print_json
from gemmviz.cuda.launch.catalog import all_kernel_names, load_kernel
from gemmviz.files.codec import to_plain
from gemmviz.files.devices import devices
from gemmviz.files.extensions import Catalog
from gemmviz.model.kernel import KernelSpec
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.shots.subject import subjects
from gemmviz.teaching.quiz import quiz_kinds
from gemmviz.teaching.shelf import kernel_groups

# The command ``kernels``: lists the included kernels.


def _run_kernels(args: argparse.Namespace) -> int:
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


# The command ``extensions``: loads all views, formats and other extensions, and names those that can't be used.


def _run_extensions(args: argparse.Namespace) -> int:
    from gemmviz.cli.main import commands

    kinds: dict[str, Catalog[Any]] = {
        "commands": commands(), "views": views(), "subjects": subjects(), "formats": formats(), "devices": devices(),
        "questions": quiz_kinds(),
    }  # fmt: skip
    broken = [error for catalog in kinds.values() for error in catalog.broken]
    if args.json:
        names = {kind: list(catalog) for kind, catalog in kinds.items()}
        print_json({**names, "errors": [str(error) for error in broken]})
    else:
        for kind, catalog in kinds.items():
            print(f"{kind}: {', '.join(catalog)}")
    for error in broken:
        print_error(error, 0)
    return 1 if broken else 0


COMMANDS = {
    "extensions": Command(
        "list views, formats and other extensions, and name those that can't be used", add_json, _run_extensions, order=18
    ),
    "kernels": Command("list the included kernels", add_json, _run_kernels, order=1),
}
