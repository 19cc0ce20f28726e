"""Names of the kinds of sites, without what they mean, for the reader process, which has no NumPy."""

from typing import Literal

SiteKind = Literal["load", "store", "copy", "atomic", "barrier", "warp barrier", "wait", "matrix", "fence"]
