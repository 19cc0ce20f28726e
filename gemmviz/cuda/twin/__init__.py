"""Printer of the instrumented twin: typed nodes to a complete CUDA translation unit."""
