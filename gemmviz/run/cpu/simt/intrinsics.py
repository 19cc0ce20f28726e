"""Compiles intrinsics to closures: arithmetic, assert, memset, and what the lanes of a warp do together."""

from typing import Any

import numpy as np

from gemmviz.model.threads import ThreadSpace
from gemmviz.model.translation import tr
from gemmviz.run.cpu.simt.access_types import access_type
from gemmviz.run.cpu.simt.collectives import collective
from gemmviz.run.cpu.simt.functions import code_for
from gemmviz.run.cpu.simt.machine import Machine
from gemmviz.run.cpu.simt.values import Closure, constant
from gemmviz.source.functions import CLOCKS, function_for
from gemmviz.source.nodes import Call
from gemmviz.source.types import Scalar, VectorType, scalar_of


def intrinsic(node: Call, args: list[Closure], space: ThreadSpace) -> Closure:
    if node.name == "assert":
        return _assertion(node, args[0])
    if node.name == "memset":
        return _cleared(node, args)
    if node.name in CLOCKS:
        return lambda machine: machine.steps
    return collective(node, args, space) or _computed(node, args)


def _computed(node: Call, args: list[Closure]) -> Closure:
    signature = function_for(node.name, [arg.type for arg in node.args if isinstance(arg.type, Scalar | VectorType)])
    assert signature is not None
    function, result = code_for(node.name, signature), signature.result
    scalar = scalar_of(result)

    def value(found: Any) -> Any:
        return found if isinstance(found, np.ndarray) else constant(found, scalar)

    if isinstance(result, VectorType):
        return lambda machine: [value(part) for part in function(*[arg(machine) for arg in args])]
    return lambda machine: value(function(*[arg(machine) for arg in args]))


def _assertion(node: Call, condition: Closure) -> Closure:
    place = node.place

    def run(machine: Machine) -> Any:
        machine.tick(place)
        failed = np.logical_not(condition(machine))
        if np.any(failed if machine.mask is None else failed & machine.mask):
            raise machine.fault(tr("this assertion fails"), place, failed, id="assertion")

    return run


def _cleared(node: Call, args: list[Closure]) -> Closure:
    pointer, count, zero = args
    place = node.place
    kind = access_type(node.args[2].type)  # type: ignore[arg-type]

    def run(machine: Machine) -> None:
        memory, offset = pointer(machine)
        for index in range(count(machine)):
            at = memory.checked(machine, offset + index, kind, place)
            memory.store(machine, at, zero(machine), kind, place)

    return run
