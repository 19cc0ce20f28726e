"""Answers to the questions of a quiz, from the emulation of its kernel. A question is solved from its text alone."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from tests.teaching.quiz_emulation import Event, Launch, Triple

LANES, SECTOR, BANKS = 32, 32, 32
OUTCOMES = {
    "before another thread has stored it": "read after write",
    "that another thread has yet to read": "write after read",
    "every order of the threads gives the same result": "none",
    "wait for each other": "stuck",
}
_MOMENT = r"(?: in phase (?P<phase>\d+)(?: \((?P<name>\w+) = (?P<value>-?\d+)\))?)?(?P<trips>(?: in the \d+\w\w trip of the loop in line \d+)*)"
_WHEN = r"(?: when (?P<when>[\w =,-]+?))?"
_WHERE = rf"line (?P<line>\d+){_MOMENT}{_WHEN}"
_BLOCK = r"(?: of (?P<block>block \([\d, ]+\)))?"
_PATTERNS = {
    "sectors": rf"In {_WHERE}, warp (?P<warp>\d+){_BLOCK} (?P<verb>reads|writes) (?P<array>\w+)\. How many sectors of 32 bytes .*",
    "wavefronts": rf"In {_WHERE}, warp (?P<warp>\d+){_BLOCK} (?P<verb>reads|writes) (?P<array>\w+)\. How many wavefronts .*",
    "element": rf"Which element of (?P<array>\w+) does (?P<thread>thread \([\d, ]+\)){_BLOCK} (?P<verb>read) in {_WHERE}\?",
    "tile": rf"Which element does (?P<cell>\w+[\[\]\d]+){_BLOCK} hold when line (?P<line>\d+) reads (?P<array>\w+){_MOMENT}\?",
    "bank": (
        rf"In {_WHERE}, lane (?P<lane>\d+) of warp (?P<warp>\d+){_BLOCK} (?P<verb>reads|writes) (?P<cell>\w+[\[\]\d]+)\. "
        r"(?P<array>\w+) begins in bank 0\. In which of the 32 banks \(of 4 bytes\) is this element\?"
    ),
    "owner": r"Which thread stores (?P<element>\w+\[[\d, ]+\])\?",
    "lane": r"A block has (?P<extents>[\d ×]+) threads\. In which warp is (?P<thread>thread \([\d, ]+\)), and which lane is it\?",
    "barrier": r"The barrier in line (?P<line>\d+) is removed, and nothing else is changed\. What can happen in this launch\?",
}


def triple(text: str | None) -> Triple:
    """Indices such as "thread (1, 0)"; zeros for None."""
    numbers = list(map(int, re.findall(r"\d+", text or "0")))
    x, y, z = (*numbers, 0, 0, 0)[:3]
    return x, y, z


@dataclass
class Solver:
    """One question about a launch. ``kind``: one of the patterns."""

    launch: Launch
    text: str

    def __post_init__(self) -> None:
        matches = {kind: match for kind, pattern in _PATTERNS.items() if (match := re.fullmatch(pattern, self.text))}
        assert len(matches) == 1, self.text
        ((self.kind, self.match),) = matches.items()

    @cached_property
    def facts(self) -> dict[str, str]:
        return {name: text for name, text in self.match.groupdict().items() if text is not None}

    @cached_property
    def moment(self) -> dict[str, int]:
        """Values of the counters at the moment that the question names."""
        facts, at = self.facts, dict[str, int]()
        if "phase" in facts:
            at["phase"] = int(facts["phase"])
        if "name" in facts:
            at[f"({facts['name']})"] = int(facts["value"])
        for trip, line in re.findall(r"(\d+)\w\w trip of the loop in line (\d+)", facts.get("trips", "")):
            at[f"loop {line}"] = int(trip)
        for name, value in re.findall(r"(\w+) = (-?\d+)", facts.get("when", "")):
            at[name] = int(value)
        return at

    @cached_property
    def block(self) -> Triple:
        block = triple(self.facts.get("block"))
        assert block in self.launch.blocks
        assert ("block" in self.facts) == (len(self.launch.blocks) > 1)
        return block

    def _event(self, thread: Triple) -> Event:
        """The one access of a thread that the question is about."""
        mode = {"reads": "r", "read": "r", "writes": "w"}[self.facts["verb"]]
        key = int(self.facts["line"]), self.facts["array"], mode, self.moment
        events = [each for each in self.launch.events(self.block, thread) if (each.line, each.array, each.mode, each.at) == key]
        assert len(events) == 1, (self.text, key, events)
        return events[0]

    def _warp(self) -> list[Event | None]:
        """What the lanes of the warp access; None for a lane without a thread."""
        first = int(self.facts["warp"]) * LANES
        threads = self.launch.threads[first : first + LANES]
        assert threads, "there is no such warp"
        return [*map(self._event, threads), *[None] * (LANES - len(threads))]

    def answer(self) -> object:
        return getattr(self, f"_{self.kind}")()

    def meaning(self, choice: str) -> object:
        """What a choice says, in the form of ``answer``. Fails for a choice that names nothing that exists."""
        return getattr(self, f"_{self.kind}_choice")(choice)

    # Requests

    def _sectors(self) -> int:
        touched = [event for event in self._warp() if event is not None and event.index is not None]
        return len({(event.index + part) * 4 // SECTOR for event in touched for part in range(event.width)})  # type: ignore[operator]

    def _sectors_choice(self, choice: str) -> int:
        count = int(re.fullmatch(r"(\d+) sectors?", choice)[1])  # type: ignore[index]
        assert (count == 1) == choice.endswith("sector")
        assert 1 <= count <= 4 * LANES
        return count

    def _wavefronts(self) -> int:
        events = self._warp()
        width = next(event.width for event in events if event is not None)
        words = [None if event is None or event.index is None else event.index for event in events]
        if width == 1:
            return self._passes([word for word in words if word is not None])
        assert width == 4
        merged = self.facts["verb"] == "reads" and any(
            all(word is None or words[lane ^ apart] in (None, word) for lane, word in enumerate(words)) for apart in (1, 2)
        )
        size = 16 if merged else 8
        groups = [words[start : start + size] for start in range(0, LANES, size)]
        return sum(self._passes([word + part for word in group if word is not None for part in range(4)]) for group in groups)

    @staticmethod
    def _passes(words: list[int]) -> int:
        """The largest number of different words in one bank."""
        banks = defaultdict(set)
        for word in words:
            banks[word % BANKS].add(word)
        return max(map(len, banks.values()), default=0)

    def _wavefronts_choice(self, choice: str) -> int:
        assert 1 <= int(choice) <= 4 * LANES
        return int(choice)

    # Elements

    def _element(self) -> tuple[str, int]:
        thread = triple(self.facts["thread"])
        assert thread in self.launch.threads
        event = self._event(thread)
        assert event.index is not None
        return self.facts["array"], event.index

    def _element_choice(self, choice: str) -> tuple[str, int]:
        array, offset = self.launch.offset(choice)
        assert array == self.facts["array"]
        return array, offset

    def _tile(self) -> tuple[str, int]:
        """The copy that is last stored in the cell before the line runs in this phase."""
        array, cell = self._cell()
        held: tuple[str, int] | None = None
        for when in range(self._reading(array)):
            for thread in self.launch.threads:
                event = self.launch.events(self.block, thread)[when]
                if (event.array, event.mode) == (array, "w") and event.index is not None:
                    for part in range(event.width):
                        if event.index + part == cell:
                            assert event.copy is not None
                            held = event.copy[0], event.copy[1] + part
        assert held is not None
        return held

    def _reading(self, array: str) -> int:
        """The place among the accesses where the line first reads the array in the phase."""
        key = int(self.facts["line"]), array, "r"
        for when, event in enumerate(self.launch.events(self.block, (0, 0, 0))):
            if (event.line, event.array, event.mode) == key and self.moment.items() <= event.at.items():
                return when
        raise AssertionError(f"nothing is read there: {self.text}")

    def _cell(self) -> tuple[str, int]:
        """The array and the cell that the question names, by the declaration in the source."""
        name, *subscripts = re.findall(r"\w+", self.facts["cell"])
        assert name == self.facts["array"]
        declared = re.search(rf"float {name}((?:\[[^\]]*\])+);", "\n".join(self.launch.source))
        assert declared is not None
        extents = [eval(each or "99999", {}, self.launch.numbers) for each in re.findall(r"\[([^\]]*)\]", declared[1])]
        assert len(extents) == len(subscripts)
        cell = 0
        for at, extent in zip(map(int, subscripts), extents, strict=True):
            assert at < extent, self.text
            cell = cell * extent + at
        return name, cell

    def _tile_choice(self, choice: str) -> tuple[str, int]:
        return self.launch.offset(choice)

    def _bank(self) -> int:
        _, cell = self._cell()
        lane = self._warp()[int(self.facts["lane"])]
        assert lane is not None
        assert lane.index == cell, "this lane accesses another element"
        return cell % BANKS

    def _bank_choice(self, choice: str) -> int:
        bank = int(re.fullmatch(r"bank (\d+)", choice)[1])  # type: ignore[index]
        assert bank < BANKS
        return bank

    # Threads

    def _owner(self) -> tuple[Triple, Triple]:
        array, offset = self.launch.offset(self.facts["element"])
        owners = [
            (thread, block)
            for block in self.launch.blocks
            for thread in self.launch.threads
            for event in self.launch.events(block, thread)
            if (event.array, event.mode) == (array, "w") and event.index is not None
            and event.index <= offset < event.index + event.width
        ]  # fmt: skip
        assert len(owners) == 1, self.text
        return owners[0]

    def _owner_choice(self, choice: str) -> tuple[Triple, Triple]:
        thread, _, block = choice.partition(" of ")
        assert triple(thread) in self.launch.threads
        assert triple(block or None) in self.launch.blocks
        assert thread.count(",") == (2 if self.launch.block[2] > 1 else 1)
        return triple(thread), triple(block or None)

    def _lane(self) -> tuple[int, int]:
        x, y, z = triple(self.facts["thread"])
        extents = (*map(int, self.facts["extents"].split(" × ")), 1)[:3]
        assert extents == self.launch.block
        return divmod(self.launch.threads.index((x, y, z)), LANES)

    def _lane_choice(self, choice: str) -> tuple[int, int]:
        warp, lane = map(int, re.fullmatch(r"warp (\d+), lane (\d+)", choice).groups())  # type: ignore[union-attr]
        assert lane < LANES
        assert warp * LANES + lane < len(self.launch.threads)
        return warp, lane

    # Barriers

    def _barrier(self) -> str:
        """The one kind of hazard between the threads of a block without the barriers of the line."""
        kinds = {kind for block in self.launch.blocks[:1] for kind in self._hazards(block, int(self.facts["line"]))}
        assert len(kinds) <= 1, self.text
        assert not self._hazards(self.launch.blocks[0], -1)
        return kinds.pop() if kinds else "none"

    def _hazards(self, block: Triple, removed: int) -> set[str]:
        """Kinds of pairs of accesses by two threads to one element of shared memory, without a barrier in between."""
        kinds: set[str] = set()
        readers: dict[tuple[str, int], set[Triple]] = defaultdict(set)
        writers: dict[tuple[str, int], set[Triple]] = defaultdict(set)
        events = [self.launch.events(block, thread) for thread in self.launch.threads]
        for accesses in zip(*events, strict=True):
            if accesses[0].mode == "barrier":
                if accesses[0].line != removed:
                    readers.clear()
                    writers.clear()
                continue
            for thread, event in zip(self.launch.threads, accesses, strict=True):
                if event.index is None or event.array in self.launch.shapes:
                    continue
                for part in range(event.width):
                    cell = event.array, event.index + part
                    others = {"read": readers[cell] - {thread}, "write": writers[cell] - {thread}}
                    if event.mode == "r":
                        kinds |= {"read after write"} if others["write"] else set()
                        readers[cell].add(thread)
                    else:
                        kinds |= {f"write after {earlier}" for earlier, threads in others.items() if threads}
                        writers[cell].add(thread)
        return kinds

    def _barrier_choice(self, choice: str) -> str:
        found = [outcome for words, outcome in OUTCOMES.items() if words in choice]
        assert len(found) == 1, choice
        return found[0]
