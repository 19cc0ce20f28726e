"""Records data that ships with gemmviz or that the tests read: make record WHAT=lessons, python packaging/record.py WHAT.

Without a GPU:

    lessons [LESSON ...]           what the included lessons need: counts, small traces, numbers of captions
    programs                       the programs of the included kernels
    advances                       the widths of the characters of the bundled fonts
    checksums [FILE ...]           checksums of device files or recordings that were compared with their source
    first-picture COMMAND [...]    prints the time until a command's window shows its first picture; needs Xvfb

With a GPU and CuPy; commands that count need Nsight Compute, too. If kernels are named, only their rows are replaced:

    traces, speeds, counters, schedules [KERNEL ...]       of the included kernels; ``kernels`` is the first three
    tensor-cores                                those, and schedules, from 08_register_tiled on; continues where it was stopped
    patterns                                    all three of kernels of other problems than the multiplication
    levels                                      traffic between the levels of memory, and limits of occupancy
    block-order                                 the same of one kernel whose blocks come in groups of rows
    lesson-schedules                            where and when the blocks of lessons' launches ran
    access-times                                cycles of an access to each memory
    precision [gpu] [host]                      speeds in double and on tensor cores, and of loops on the CPU; needs Numba
    host-calls, lesson-speeds                   times of a host's calls, and speeds of the lessons' kernels
    streams                                     copies under kernels, in one stream and in two
    course                                      lesson-schedules, host-calls, lesson-speeds, access-times, precision
    wavefronts                                  single accesses to shared memory
    divergence                                  branches and active threads of launches whose warps part
    styles [KERNEL ...]                         counters of files in every style, into build/styles

With nvcc and nvdisasm: ``registers [KERNEL ...]``. With nvcc, a GPU and compute-sanitizer: ``races``, which needs nothing of
gemmviz, and ``pipelines`` of copies, which needs pytest.
"""

import sys

from commands import run

COMMANDS = {
    "recording.launches": (
        "traces", "speeds", "counters", "kernels", "patterns", "schedules", "lesson-schedules", "lesson-speeds", "registers",
    ),
    "recording.counters": ("levels", "block-order", "styles", "tensor-cores", "wavefronts", "divergence"),
    "recording.timings": ("access-times", "precision", "host-calls", "streams", "course"),
    "recording.races": ("races", "pipelines"),
    "recording.stored": ("lessons", "programs", "advances", "checksums"),
    "recording.first_picture": ("first-picture",),
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(run(COMMANDS, __doc__))
