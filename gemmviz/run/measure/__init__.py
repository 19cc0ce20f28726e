"""Benchmarks on this machine's GPU, and recorded times."""
