"""The kinds of sites, apart from the arrays of a site: the reader process needs no NumPy."""

from typing import Literal

from gemmviz.model.translation import marked

SiteKind = Literal["load", "store", "copy", "atomic", "barrier", "warp barrier", "wait", "matrix", "fence"]
WORDS = (  # of the kinds, for several threads and for one: messages of the catalogue
    marked("load"), marked("store"), marked("copy"), marked("atomic"), marked("barrier"), marked("warp barrier"),
    marked("wait"), marked("matrix"), marked("fence"), marked("loads"), marked("stores"),
)  # fmt: skip
