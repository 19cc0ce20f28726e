"""Execution on the CPU: executor, recorder and watches around the interpreter."""
