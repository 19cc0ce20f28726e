"""Runs the function that the command line names, for scripts with many commands."""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature


def run(modules: Mapping[str, Sequence[str]], usage: str | None) -> int:
    """Call a function with the words that follow its name, and return its exit status.

    ``modules``: the names of commands by the module that has their functions, which is loaded if one of them is named.
    ``usage``: printed without words, and if they name no command.
    """
    homes = {name: module for module, names in modules.items() for name in names}
    if len(sys.argv) == 1:
        print(usage)
        return 0
    what, *words = sys.argv[1:]
    if what in homes:
        command = getattr(import_module(homes[what]), what.replace("-", "_"))
        try:
            signature(command).bind(*words)
        except TypeError as error:
            print(f"{what}: {error}", file=sys.stderr)
            return 2
        return command(*words) or 0
    print(usage, file=sys.stderr)
    return 2
