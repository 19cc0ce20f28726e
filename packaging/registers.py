"""Records the registers that nvcc allocates for every shipped kernel and choice of its parameters: make registers."""

import itertools
import json
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from gemmviz.files.checksums import write_recording
from gemmviz.files.measurements import parameter_key
from gemmviz.launch.catalog import kernel_names, load_kernel
from gemmviz.model.kernel import KernelSpec, text_hash

ARCHITECTURES = ("8.0", "8.6", "8.9", "9.0")
RECORD = Path(__file__).resolve().parent.parent / "assets" / "measurements" / "registers.json"


def main() -> None:
    release = re.search(r"V([\d.]+)", subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout)
    specs = [load_kernel(name) for name in kernel_names()]
    record = {
        "what": "registers of one thread, as ptxas -v reports them, by kernel text, parameters and compute capability",
        "compiler": f"nvcc {release[1] if release else '?'}",
        "date": str(date.today()),
        "kernels": {text_hash(spec.text): choices(spec) for spec in specs},
    }
    write_recording(RECORD, json.dumps(record, indent=1) + "\n")


def choices(spec: KernelSpec) -> dict[str, dict[str, int]]:
    names = [parameter.name for parameter in spec.parameters]
    values = [parameter.choices or (parameter.default,) for parameter in spec.parameters]
    combinations = [dict(zip(names, each, strict=True)) for each in itertools.product(*values)]
    jobs = list(itertools.product(combinations, ARCHITECTURES))
    with ThreadPoolExecutor() as pool:
        counts = pool.map(lambda job: registers(spec, *job), jobs)
    by_parameters: dict[str, dict[str, int]] = {}
    for (parameters, architecture), count in zip(jobs, counts, strict=True):
        by_parameters.setdefault(parameter_key(parameters), {})[architecture] = count
    return by_parameters


def registers(spec: KernelSpec, parameters: dict[str, int], architecture: str) -> int:
    macros = [f"-D{name}={value}" for name, value in parameters.items()]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.cu"
        source.write_text(spec.text, encoding="utf-8")
        arch = "-arch=sm_" + architecture.replace(".", "")
        command = [
            "nvcc",
            "-cubin",
            arch,
            "--std=c++17",
            "-Xptxas",
            "-v",
            *macros,
            "-o",
            str(source.with_suffix(".cubin")),
            str(source),
        ]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    match = re.search(r"Used (\d+) registers", output)
    assert match is not None, output
    return int(match[1])


if __name__ == "__main__":
    main()
