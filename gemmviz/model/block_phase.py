"""What one block does in one phase of a tiled kernel: loads into shared memory, operations on them, and the blocks that fit."""

from msgspec import Struct

from gemmviz.model.device import Device


class BlockPhase(Struct, frozen=True):
    """One phase of one block. ``what``: the launch for titles; ``block``: its threads along x and y; ``tiles``: name, rows and
    columns of each shared array; ``matrices``: the array that each is loaded from, "" if unknown; ``loads``: elements that the
    block reads from global memory; ``operations``: its multiplications and additions; ``shared_bytes``: of its tiles;
    ``taken_bytes``: the shared memory that it takes of an SM; ``fitting``: for shared memory and threads, the number of blocks
    in an SM that each of them alone allows.
    """

    what: str
    device: Device
    block: tuple[int, int]
    tiles: tuple[tuple[str, int, int], ...]
    matrices: tuple[str, ...]
    loads: int
    operations: int
    shared_bytes: int
    taken_bytes: int
    fitting: dict[str, int]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1]
