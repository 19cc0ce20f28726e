"""Which kernels run on the GPU unasked: those that ship with gemmviz, and those of which a person said so."""

import hashlib
from dataclasses import replace

from psygnal import Signal

from gemmviz.files.codec import to_json
from gemmviz.launch.catalog import is_own
from gemmviz.model.kernel import KernelSpec

_MOST_KNOWN = 500


class Trust:
    """``known``: what a person said so of, as hashes of text and launch, the latest last. ``changed`` when there is more."""

    changed = Signal()

    def __init__(self) -> None:
        self.known: tuple[str, ...] = ()

    def includes(self, kernel: KernelSpec) -> bool:
        return is_own(kernel) or _hash(kernel) in self.known

    def extend(self, kernel: KernelSpec) -> None:
        """For this text; another one, also in the same file, is another kernel."""
        found = _hash(kernel)
        self.known = (*(each for each in self.known if each != found), found)[-_MOST_KNOWN:]
        self.changed.emit()


def _hash(kernel: KernelSpec) -> str:
    plain = to_json(replace(kernel, name="", file="", title="", description="", is_shipped=False))
    return hashlib.sha256(plain).hexdigest()
