"""CUDA C as data: a tree of nodes with their places, and the instrumented twin."""
