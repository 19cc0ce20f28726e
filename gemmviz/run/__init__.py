"""Engines, which turn a setup into a trace, counts and times, on the CPU or on a GPU."""
