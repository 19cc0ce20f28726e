"""Compiles intrinsics to closures: arithmetic, assert, memset, and what the lanes of a warp do together."""

from typing import Any

import numpy as np

from gemmviz.model.threads import ThreadSpace
from gemmviz.run.cpu.simt.collectives import collective
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Closure, constant
from gemmviz.source.functions import function_for
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar


def intrinsic(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    if node.name == "assert":
        return _assertion(node, args[0])
    if node.name == "memset":
        return _cleared(node, args)
    return collective(node, args, space) or _computed(node, args)


def _computed(node: Call, args: list[Closure]) -> Closure:
    assert isinstance(node.type, Scalar)
    function, result = function_for(node.name, [arg.type for arg in node.args if isinstance(arg.type, Scalar)]), node.type
    assert function is not None

    def run(machine: Machine) -> Any:
        found = function(*[arg(machine) for arg in args])
        return found if isinstance(found, np.ndarray) else constant(found, result)

    return run


def _assertion(node: Call, condition: Closure) -> Closure:
    place = node.place

    def run(machine: Machine) -> Any:
        machine.tick(place)
        failed = np.logical_not(condition(machine))
        if np.any(failed if machine.mask is None else failed & machine.mask):
            raise machine.fault("this assertion fails", place, failed, id="assertion")

    return run


def _cleared(node: Call, args: list[Closure]) -> Closure:
    pointer, count, zero = args
    place = node.place

    def run(machine: Machine) -> None:
        memory, offset = pointer(machine)
        for index in range(count(machine)):
            memory.store(machine, memory.checked(machine, offset + index, 1, place), zero(machine), place)

    return run
