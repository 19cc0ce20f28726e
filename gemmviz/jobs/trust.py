"""The kernels that may run on the GPU: those that ship with gemmviz, and those that the user allowed."""

import hashlib

from psygnal import Signal

from gemmviz.files.codec import to_json
from gemmviz.launch.catalog import is_shipped_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace

_MOST_HASHES = 500


class Trust:
    """The kernels that the user allowed: ``hashes`` of their text and launch, latest last. ``changed`` is emitted for more."""

    changed = Signal()

    def __init__(self) -> None:
        self.hashes: tuple[str, ...] = ()

    def includes(self, kernel: KernelSpec) -> bool:
        """Whether a kernel may run on the GPU."""
        return is_shipped_kernel(kernel) or _hash(kernel) in self.hashes

    def add(self, kernel: KernelSpec) -> None:
        """Allows a kernel with this text and launch. Another text in the same file is another kernel."""
        added = _hash(kernel)
        self.hashes = (*(each for each in self.hashes if each != added), added)[-_MOST_HASHES:]
        self.changed.emit()


def _hash(kernel: KernelSpec) -> str:
    plain = to_json(replace(kernel, name="", file="", title="", description="", is_shipped=False))
    return hashlib.sha256(plain).hexdigest()
