"""Replay of a trace step by step: the state of matrices, tiles and sums at each moment."""
