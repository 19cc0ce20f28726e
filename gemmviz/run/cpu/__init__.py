"""Execution on the CPU: the interpreter's executor, recorder, race search and variable watches."""
