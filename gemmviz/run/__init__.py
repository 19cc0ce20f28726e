"""Engines: who turns a kernel and its settings into a trace, counts and times, on the CPU or on the GPU."""
