"""Titles of launches: kernel, parameters and sizes."""

from gemmviz.model.setup import Setup


def parameters_text(setup: Setup) -> str:
    """The parameters, such as "TILE_WIDTH = 32, PAD = 1"."""
    return ", ".join(f"{name} = {value}" for name, value in setup.parameters.items())


def kernel_title(setup: Setup) -> str:
    """The kernel with its parameters."""
    return ", ".join(filter(None, (setup.kernel.name, parameters_text(setup))))


def launch_title(setup: Setup) -> str:
    """The kernel with its parameters and sizes."""
    return f"{kernel_title(setup)}, {setup.problem.text()}"
