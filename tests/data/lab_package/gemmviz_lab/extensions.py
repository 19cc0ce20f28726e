"""Two views, a subject, a command, a format and a kind of quiz question."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from gemmviz.analysis.replay.moment import Moment
from gemmviz.cli.command import Command, no_arguments
from gemmviz.render.reel import RenderOptions, Still
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.view import View, ViewOptions, framed, message, titled
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject
from gemmviz.teaching.lesson import Expectation
from gemmviz.teaching.quiz import GeneratedQuestion, QuizKind, QuizSource


def _scene(moment: Moment, options: ViewOptions) -> Scene:
    return framed([message("plain", options)], moment, options)


@dataclass(frozen=True)
class Sizes:
    """What the subject of this package is: the sizes of a shot's matrices."""

    text: str


def _sizes(shot: Shot, context: Context) -> Sizes:
    return Sizes(str(shot.setup.problem))


def _sizes_scene(sizes: Sizes, options: ViewOptions) -> Scene:
    return titled([message(sizes.text, options)], "Sizes", "", options)


def _hello(args: argparse.Namespace) -> int:
    print("hello from the lab")
    return 3


def _save(scene: Scene, path: Path, options: RenderOptions) -> None:
    path.write_text(f"{scene.width:g} x {scene.height:g}")


def _question(source: QuizSource) -> GeneratedQuestion:
    text, right = "Which kernel is this?", source.setup.kernel.name
    expect = (Expectation("result", "right"),)
    return GeneratedQuestion(text, right, "it is", source.shot(0, "stage"), [("cuBLAS", "no"), ("CUTLASS", "no")], expect)


PLAIN = View("Plain", Moment, _scene)
SIZES = Subject(Sizes, _sizes)
SIZES_VIEW = View("Sizes", Sizes, _sizes_scene)
HELLO = Command("say hello", no_arguments, _hello)
TXT = Still("Text", _save)
NAME_OF_THE_KERNEL = QuizKind("Name of the kernel", _question)
