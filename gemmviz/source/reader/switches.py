"""Lowers ``switch`` to a loop of one trip, which ``break`` leaves, with an if for each part between two labels."""

from gemmviz.source.reader import kinds as k

_LABELS = (k.CASE_STMT, k.DEFAULT_STMT)
