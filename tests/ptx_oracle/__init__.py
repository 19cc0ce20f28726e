"""A second witness of what a kernel does: NVIDIA's own reader.

NVRTC compiles a kernel without optimisation to PTX, in which every access of the source is one instruction; the PTX runs in
NumPy. It needs NVRTC's wheel, but no GPU.
"""
