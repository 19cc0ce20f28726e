"""A list of shots with words: saved views in an order, to and from TOML."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gemmviz.files.codec import FormatError, from_plain, read_text, toml_text, toml_to_plain
from gemmviz.files.whole import write_text
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.show.shot import FORMAT as VIEW
from gemmviz.show.shot import Shot, parse_shot, plain_of, shot_of

FORMAT = "gemmviz lesson"
VERSION = 1
Build = Literal["", "phases", "steps", "lanes"]
BUILDS: tuple[Build, ...] = get_args(Build)


@dataclass(frozen=True, slots=True)
class Stop:
    """One view of a lesson. ``title``, ``caption`` and ``notes``: what is written above, said below, and told to the speaker;
    ``build``: how it comes: at once, or phase by phase, step by step, lane by lane. Raises UsageError for what no build is.
    """

    shot: Shot
    title: str = ""
    caption: str = ""
    notes: str = ""
    build: Build = ""

    def __post_init__(self) -> None:
        if self.build not in BUILDS:
            raise UsageError(f"a view can't come by {self.build!r}", remedy=f"choose {', '.join(filter(None, BUILDS))}")


@dataclass(frozen=True, slots=True)
class Lesson:
    """Views in their order."""

    title: str = "Lesson"
    stops: tuple[Stop, ...] = ()

    def with_stop(self, stop: Stop, at: int | None = None) -> "Lesson":
        """With another one behind the others, or before the one at ``at``."""
        place = len(self.stops) if at is None else at
        return Lesson(self.title, (*self.stops[:place], stop, *self.stops[place:]))

    def without(self, at: int) -> "Lesson":
        return Lesson(self.title, (*self.stops[:at], *self.stops[at + 1 :]))

    def changed(self, at: int, stop: Stop) -> "Lesson":
        """With this one in the place of another."""
        return Lesson(self.title, (*self.stops[:at], stop, *self.stops[at + 1 :]))

    def moved(self, at: int, to: int) -> "Lesson":
        """With one of them at another place."""
        return self.without(at).with_stop(self.stops[at], to)


def lesson_text(lesson: Lesson) -> str:
    """The lesson as TOML."""
    steps = []
    for stop in lesson.stops:
        words = {name: getattr(stop, name) for name in ("title", "caption", "notes", "build")}
        steps.append({**{name: text for name, text in words.items() if text}, "shot": plain_of(stop.shot)})
    return toml_text({"format": FORMAT, "version": VERSION, "title": lesson.title, "step": steps})


def parse_lesson(text: str, file: str | None = None) -> Lesson:
    """What ``lesson_text`` wrote; a saved view is a lesson of one. Raises FormatError, or UsageError for what there is none
    of.
    """
    try:
        plain = toml_to_plain(text)
        kind, version = plain.pop("format", None), plain.get("version", 0)
        if kind == VIEW:
            return Lesson("View", (Stop(parse_shot(text)),))
        if kind != FORMAT:
            raise FormatError("this is neither a lesson of gemmviz nor a saved view")
        if not isinstance(version, int) or version > VERSION:
            raise FormatError(f"this lesson has version {version}; this gemmviz reads {VERSION}", remedy="update gemmviz")
        steps = plain.get("step", [])
        if not isinstance(steps, list) or not steps:
            raise FormatError("this lesson has no [[step]]")
        return Lesson(str(plain.get("title", "Lesson")), tuple(_stop(each, number) for number, each in enumerate(steps, 1)))
    except GemmvizError as error:
        if file is not None:
            error.in_file(file)
        raise


def _stop(plain: object, number: int) -> Stop:
    if not isinstance(plain, dict) or not isinstance(plain.get("shot"), dict):
        raise FormatError(f"step {number} has no [step.shot]")
    unknown = plain.keys() - {"shot", "title", "caption", "notes", "build"}
    if unknown:
        raise FormatError(f"step {number} has {', '.join(sorted(unknown))}, which no step has")
    words = from_plain({name: value for name, value in plain.items() if name != "shot"}, dict[str, str])
    return Stop(shot_of(plain["shot"]), **words)  # type: ignore[arg-type]


def save_lesson(lesson: Lesson, path: Path) -> None:
    """Raises GemmvizError where the file can't be written."""
    write_text(path, lesson_text(lesson))


def read_lesson(path: Path) -> Lesson:
    """A lesson, or a saved view as one of a single step. Raises UsageError where there is no such file, FormatError that names
    the file and what is wrong in it.
    """
    return parse_lesson(read_text(path), str(path))
