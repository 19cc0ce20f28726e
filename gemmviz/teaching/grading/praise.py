"""What a right kernel does well, from the counts of its launch: sentences for the page of its student."""

from gemmviz.analysis.memory.counts import Counts
from gemmviz.model.errors import GemmvizError
from gemmviz.model.problems.catalog import MULTIPLY
from gemmviz.shots.knowledge import Knowledge
from gemmviz.teaching.requirements import SizeRun

RIGHTNESS = frozenset(("parses", "guards", "hazards", "result"))  # checks that a kernel passes if it is right
_FEWER_READS = 2  # times: what a kernel with tiles reads less than one without, at least


def praise(run: SizeRun) -> tuple[str, ...]:
    """The size of a run and the sentences about it; none if its launch can't be counted, or does nothing well."""
    try:
        sentences = (*_global_memory(run.facts), *_shared_memory(run.facts))
    except GemmvizError:
        return ()
    return (f"At {run.size.words}:", *sentences) if sentences else ()


def _totals(facts: Knowledge, space: str) -> dict[tuple[str, str], Counts]:
    """The costs of all accesses of a memory, by the name of the array and the direction."""
    totals: dict[tuple[str, str], Counts] = {}
    for (_, each), cost in facts.counts.accesses.items():
        array = facts.counts.arrays[each.array]
        if array.space == space:
            key = array.name, each.access
            totals[key] = totals.get(key, Counts()) + cost
    return totals


def _global_memory(facts: Knowledge) -> list[str]:
    sentences = []
    for (name, access), cost in _totals(facts, "global").items():
        if cost.requests and not cost.excessive_sectors:
            what = "reads" if access == "read" else "writes"
            sentences.append(f"The {what} of {name} are coalesced: {cost.sectors:,} sectors moved, {cost.sectors:,} needed.")
    problem = facts.setup.problem
    products = (problem.flops or 0) // 2 if problem.kind.name == MULTIPLY else 0
    for name in ("A", "B"):
        reads = facts.counts.elements("global", "read", name)
        if reads and products >= _FEWER_READS * reads:
            sentences.append(f"{name} is read {reads:,} times; without tiles it would be {products:,} times.")
    return sentences


def _shared_memory(facts: Knowledge) -> list[str]:
    costs = _totals(facts, "shared").values()
    requests, excess = sum(each.requests for each in costs), sum(each.excessive_wavefronts for each in costs)
    wavefronts = sum(each.wavefronts for each in costs)
    if not requests or excess:
        return []
    return [f"Shared memory has no bank conflict: {wavefronts:,} wavefronts, {wavefronts:,} needed."]
