"""The command ``extensions``: loads all views, formats and other extensions, and names those that can't be used."""

import argparse
from typing import Any

from gemmviz.cli.command import Command, add_json, print_error, print_json
from gemmviz.files.devices import devices
from gemmviz.files.extensions import Catalog
from gemmviz.render.export import formats
from gemmviz.scenes.catalog import views
from gemmviz.shots.subject import subjects
from gemmviz.teaching.quiz import quiz_kinds


def _run(args: argparse.Namespace) -> int:
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


COMMAND = Command("list views, formats and other extensions, and name those that can't be used", add_json, _run, order=18)
