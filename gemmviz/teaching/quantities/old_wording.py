"""Quantities in lesson files up to version 2, which named them by English phrases: phrase -> reference by id."""

import re
from functools import cache

from gemmviz.model.errors import ErrorId

# <n> stands for a whole number, <NAME> for a name, <a|b> for one of these; {0} is what the first of them matched.
REFERENCES = {
    "<M|N|K>": "problem_size(name={0})",
    "blocks": "block_count",
    "threads a block": "threads_per_block",
    "threads": "thread_count",
    "warps a block": "warps_per_block",
    "idle lanes": "idle_lanes",
    "lane of thread <x> <y> <z>": "lane_of_thread(x={0}, y={1}, z={2})",
    "warp of thread <x> <y> <z>": "warp_of_thread(x={0}, y={1}, z={2})",
    "shared bytes a block": "shared_bytes_per_block",
    "device cores": "device_cores",
    "device <NAME>": "device(field={0})",
    "blocks on an SM": "blocks_per_sm",
    "blocks on an SM by <threads|warps|registers|blocks|shared>": "blocks_per_sm_limit(resource={0})",
    "percent of <threads|warps> taken": "occupied_percent(resource={0})",
    "waves": "wave_count",
    "waves of the other": "compared_wave_count",
    "most blocks on an SM at once": "most_resident_blocks",
    "blocks that ran": "scheduled_blocks",
    "refusal": "refusal",
    "largest <NAME> of a block": "largest_size(name={0})",
    "bytes <asked|moved>": "global_bytes(measure={0})",
    "bytes asked by <reads|writes>": "global_bytes(measure=requested, access={0})",
    "gibibytes <asked|moved> by <reads|writes>": "global_gibibytes(measure={0}, access={1})",
    "bytes from DRAM": "dram_bytes",
    "<global|shared> <reads|writes>": "elements(space={0}, access={1})",
    "elements of <A|B|C> read": "elements(space=global, access=read, array={0})",
    "reads with <NAME> = <n>": "elements_read_with(parameter={0}, value={1})",
    "loads of a block in a phase": "elements_per_phase",
    "operations of a block in a phase": "flops_per_phase",
    "<sectors|requests|wavefronts>": "launch_cost(measure={0})",
    "times that an element of <A|B> is read": "reads_per_element(array={0})",
    "flop a byte <asked|moved>": "arithmetic_intensity(measure={0})",
    "flop a byte with the stores": "arithmetic_intensity_with_stores",
    "roof in GFLOP/s by bytes <asked|moved>": "roofline_gflops(measure={0})",
    "steps": "step_count",
    "phases": "phase_count",
    "C": "result",
    "fault": "fault",
    "hazards <read after write|write after read|write after write>": "hazards(kind={0})",
    "hazards <read after write|write after read|write after write> over <NAME>": "hazards(kind={0}, array={1})",
    "<sectors|lines|wavefronts|lanes|requests> now": "step_cost(measure={0})",
    "<sectors|lines|wavefronts|lanes> of a request of <NAME>": "request_cost(array={1}, measure={0})",
    "reads by thread <n>": "reads_of_thread(thread={0})",
    "reads by thread <n> up to k = <k>": "reads_of_thread(thread={0}, k={1})",
    "what thread <n> reads of <A|B> at k = <k>": "element_read(array={1}, thread={0}, k={2})",
    "elements of <A|B> that a block copies in a phase": "elements_copied(array={0})",
    "copy <n> of thread <n> in phase <p>": "copy_of_thread(number={0}, thread={1}, phase={2})",
    "product <n> of thread <n> in phase <p>": "product_of_thread(number={0}, thread={1}, phase={2})",
    "terms of a sum": "term_count",
    "terms so far": "terms_so_far",
    "terms are in order of k": "terms_in_order",
    "<rows|columns> of C of the block": "block_range(axis={0})",
    "<rows|columns> of C of the warp": "warp_extent(axis={0})",
    "tiles of <A|B> that the block reads": "tiles_read(array={0})",
    "stride of <A|B>": "stride(array={0})",
    "offset of <A|B|C> at row <r>, column <c>": "element_offset(array={0}, row={1}, column={2})",
    "bytes asked of <global|shared> memory so far": "bytes_so_far(space={0})",
    "work": "work",
    "span": "span",
    "parallelism": "parallelism",
    "mebibytes of the matrices": "matrix_mebibytes",
    "percent of cycles issued": "issued_percent",
    "blanks": "blanks",
    "who races": "racing_units",
    "elements wrong by the race": "race_wrong_elements",
    "steps ahead in the race": "race_lead",
    "warps of a scheduler": "warps_per_scheduler",
    "GFLOP/s of <KERNEL> at N = <n>": "gflops(kernel={0}, n={1})",
    "percent of cuBLAS of <KERNEL> at N = <n>": "cublas_percent(kernel={0}, n={1})",
    "GFLOP/s of <KERNEL> <w> wide at N = <n>": "gflops(kernel={0}, n={2}, width={1})",
    "times as fast as <KERNEL> is <KERNEL> at N = <n>": "speedup(kernel={1}, base={0}, n={2})",
    "microseconds of the copies at N = <n>": "benchmark_copy_us(n={0})",
    "blocks at N = <n>": "block_count_at(n={0})",
    "blocks for each SM at N = <n>": "blocks_per_sm_at(n={0})",
    "N recorded": "host_run_size",
    "copies to the device": "copies_to_device",
    "microseconds of <pageable|pinned> copies": "host_copy_us(memory={0})",
    "microseconds of the kernel": "host_kernel_us",
}
_VALUES = {
    "asked": "requested",
    "reads": "read",
    "writes": "write",
    "read after write": "read-after-write",
    "write after read": "write-after-read",
    "write after write": "write-after-write",
}

# Words of messages that a lesson expected of ``refusal`` and ``fault``, and the ids of these errors.
_ERRORS: dict[str, ErrorId] = {
    "is read before it is written": "uninitialised-read",
    "is out of range": "out-of-range",
    "reaches outside of": "out-of-range",
    "in divergent flow": "divergent-barrier",
    "is not aligned to": "misaligned-access",
    "integer division by zero": "division-by-zero",
    "this assertion fails": "assertion",
    "is still running after": "step-budget",
    "reads and writes nothing": "no-access",
    "threads; allows at most": "block-threads",
    "bytes of shared memory": "shared-memory",
    "the block would have along": "block-extent",
    "the grid would have along": "grid-extent",
    "registers take": "registers",
    "choose one of": "parameter-range",
    "it must be at least 1": "parameter-range",
}


def reference_of(wording: str) -> str:
    """The reference that stands for an old wording; the wording itself if it is unknown."""
    for phrase, reference in REFERENCES.items():
        match = _pattern(phrase).fullmatch(wording.strip())
        if match is not None:
            return reference.format(*(_VALUES.get(each, each) for each in match.groups()))
    return wording


def error_id_of(words: str) -> str:
    """The id of the error whose message holds these words, or whose words these contain; the words if there is none."""
    text = " ".join(re.sub(r"\d+", "", words).split())
    for phrase, id in _ERRORS.items():
        if text and (text in phrase or phrase in text):
            return id
    return "block-threads" if words.strip().isdecimal() else words


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """A phrase as a regular expression; compiled when an old file is first read."""
    pattern, end = "", 0
    for hole in re.finditer(r"<([^<>]+)>", phrase):
        inside = hole[1]
        part = "|".join(map(re.escape, inside.split("|"))) if "|" in inside else r"\d{1,9}" if inside.islower() else r"\S+"
        pattern += re.escape(phrase[end : hole.start()]) + f"({part})"
        end = hole.end()
    return re.compile(pattern + re.escape(phrase[end:]))
