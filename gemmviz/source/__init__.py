"""Kernel text as data: its header, its nodes with their places, and the instrumented twin."""
