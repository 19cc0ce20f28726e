"""The model of latency hiding knows how many warps a scheduler can hold, and captions write its figures as pictures do."""

import pytest
from msgspec import structs

from gemmviz.analysis.models import hiding, hiding_of
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot, Trial
from gemmviz.teaching.captions import named_value
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quantities.catalog import quantity_value


def facts_of(device: str = "h200", trial: Trial | None = None) -> Knowledge:
    setup = setup_for(load_kernel("03_coalesced"), Problem(1024, 1024, 1024), {"BLOCK": 16}, device=device)
    return Knowledge(Shot(setup, view="latency", trial=trial or Trial(256, 32, 0)), Interpreter())


FEW = Trial(threads=64, registers=32, shared_bytes=49152)


def said(facts: Knowledge) -> list[str]:
    scene = view_named("latency").scene(facts.occupancy, ViewOptions())
    return [text for each in scene.all if isinstance(each, Labels) for text in each.texts]


def test_more_warps_than_a_scheduler_holds_are_not_offered() -> None:
    facts = facts_of()
    assert quantity_value("warps_to_hide_latency", facts) == 37
    assert quantity_value("most_warps_per_scheduler", facts) == 16
    assert "the scheduler issues in 44.4 % of the cycles; 37 warps would hide all latency, but it holds 16 at most" in said(
        facts
    )
    assert hiding(16, 40).sentence.endswith("37 warps would hide all latency"), "such a scheduler could"
    assert hiding(37, 40).sentence.endswith("all latency is hidden")


@pytest.mark.parametrize(("device", "most"), [("h200", 16), ("8800gtx", 24), ("rtx3090", 12)])
def test_each_device_has_its_own_most_warps(device: str, most: int) -> None:
    assert hiding_of(facts_of(device, Trial(64, 16, 0)).occupancy).most == most


def test_the_tried_block_is_named_in_the_picture() -> None:
    facts = facts_of(trial=FEW)
    assert any("tried: 64 threads a block, 32 registers each, 48 KiB shared" in text for text in said(facts))
    assert quantity_value("tried_resource(resource=shared_bytes)", facts) == 49152
    own = facts_of(trial=Trial())
    assert any("the kernel: 256 threads a block" in text for text in said(own))


@pytest.mark.parametrize(("value", "expected", "text"), [
    (100 * 40 / 420, 10, "9.52"), (76.190476, 76, "76.2"), (124.1212, 124.1, "124.1"), (0.9701, 0.97, "0.97"),
    (24123.4, 24123, "24\u202f123"), (345.6, 345.6, "345.6"), (2.0, 2, "2"), (0.0, 0, "0"),
])  # fmt: skip
def test_a_caption_keeps_the_digits_that_pictures_show(value: float, expected: float, text: str) -> None:
    assert named_value(Expectation("issued_percent", expected), value) == text


def test_the_caption_of_few_warps_says_what_its_picture_says() -> None:
    facts = facts_of(trial=FEW)
    caption = named_value(Expectation("issued_percent", 5.5), quantity_value("issued_percent", facts))
    assert any(f"issues in {caption} %" in text for text in said(facts))
    assert caption == hiding_of(structs.replace(facts.occupancy)).percent
