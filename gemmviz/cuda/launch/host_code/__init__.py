"""Cursors of host code to outlines of kernels and launches. Runs in the reader process only."""
