"""gemmviz turns a CUDA C matrix-multiplication kernel into a moving picture of every memory access."""

__version__ = "0.1.0"
