"""The kinds of sites, apart from the arrays of a site: the reader process needs no NumPy."""

from typing import Literal

SiteKind = Literal["load", "store", "copy", "atomic", "barrier", "warp barrier", "wait", "matrix", "fence"]
