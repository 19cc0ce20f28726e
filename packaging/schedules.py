"""Records where and when each block of some launches ran, on a machine with a GPU: make schedules."""

import re
from contextlib import closing
from datetime import date
from pathlib import Path

from gemmviz.files.checksums import seal
from gemmviz.files.schedule_file import RecordedLaunch, RecordedSchedules, write_schedules
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.launch.legality import launch_for, legal_choices, setup_for
from gemmviz.model.errors import GemmvizError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.run.worker.remote import RemoteGpu

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "measurements"
SIZES = (256, 512, 1024, 2048)
LARGE = 4096
MOST_BLOCKS, LARGE_BLOCKS = 4096, 16_384


def launches() -> list[Setup]:
    """Setups of every shipped kernel at its own sizes, and with its largest blocks at other sizes."""
    setups = []
    for name in kernel_names():
        kernel = load_kernel(name)
        setups.append(setup_for(kernel))
        for size in (*SIZES, LARGE):
            choices = list(legal_choices(kernel, Problem(size, size, size)))
            most = LARGE_BLOCKS if size == LARGE else MOST_BLOCKS
            fitting = [each for each in choices if launch_for(each).block_count <= most]
            setups += sorted(fitting, key=lambda each: launch_for(each).block_count)[: 1 if size == LARGE else 2]
    return setups


def main() -> None:
    with closing(RemoteGpu(timeout_s=60)) as gpu:
        about = gpu.gpu()
        name = re.sub(r"\W+", "-", about.name.lower())
        rows = []
        for setup in launches():
            try:
                schedule = gpu.schedule(setup)
            except GemmvizError as error:
                print(f"{setup.kernel.name} {setup.problem}: {error}")
                continue
            kernel = setup.kernel
            row = RecordedLaunch(kernel.name, kernel.text_hash, setup.problem, schedule.tick_ns, dict(setup.parameters))
            rows.append((row, schedule))
            print(
                f"{kernel.name} {setup.problem} {dict(setup.parameters)}: {schedule.blocks} blocks, {schedule.duration_ns} ns"
            )
            recorded = RecordedSchedules(about, str(date.today()), tuple(r for r, _ in rows), tuple(s for _, s in rows))
            write_schedules(recorded, FOLDER / f"schedules-{name}.npz")
            seal(FOLDER / f"schedules-{name}.npz")


if __name__ == "__main__":
    main()
