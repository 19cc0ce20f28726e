"""What a trace means: pure NumPy from recorded accesses to the hardware's counts."""
