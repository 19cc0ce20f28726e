"""A lesson as one zip archive for a course: a handout, a page and a worksheet for students; slides, notes, answers and
questions for the lecturer; the lesson and its kernels; and a README with the commands that make them again.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from gemmviz.export.prepare import ExportOptions
from gemmviz.files.whole import atomic_write
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.records import replace
from gemmviz.render.export import save_reel
from gemmviz.run.engine import Engine
from gemmviz.state.shot import Shot
from gemmviz.subjects.facts import ShotFacts
from gemmviz.subjects.gathering import EngineOf, with_stored_answers
from gemmviz.teaching.captions import filled_step
from gemmviz.teaching.lesson import Lesson, LessonStep
from gemmviz.teaching.lesson_file import lesson_text
from gemmviz.teaching.moodle import moodle_xml
from gemmviz.teaching.pack_texts import notes_text, readme_text
from gemmviz.teaching.quiz import quiz_of
from gemmviz.teaching.reel import lesson_reel

_PRACTICE_LENGTHS = (10, 6, 3)  # numbers of generated questions, tried in this order
_PAPER = "light"  # theme of what is printed
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of every file in the archive, so that its bytes depend on nothing but its contents
OnFile = Callable[[str, int, int], None]  # called with the name of the next file, the number of files done, and their number


class PackFile(Struct, frozen=True):
    """A file of a pack: its ``name`` with its folder, its ``purpose`` in the README, and the function that writes it."""

    name: str
    purpose: str
    write: Callable[[Path], None]


def save_pack(lesson: Lesson, path: Path, engine: Engine, on_file: OnFile = lambda name, done, of: None) -> list[PackFile]:
    """Write the pack of a lesson and return its files. The same lesson always gives the same bytes.

    Raises GemmvizError, and whatever ``on_file`` raises; nothing is written then.
    """
    files = pack_files(lesson, engine)
    with (
        atomic_write(path) as part,
        TemporaryDirectory() as folder,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for done, file in enumerate(files):
            on_file(file.name, done, len(files))
            target = Path(folder) / file.name.rpartition("/")[2]
            file.write(target)
            entry = zipfile.ZipInfo(f"{_stem(lesson)}/{file.name}", _MOMENT)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, target.read_bytes())
            target.unlink()
        on_file("", len(files), len(files))
    return files


def pack_files(lesson: Lesson, engine: Engine) -> list[PackFile]:
    """The files of a pack in their order, the README first."""
    name, files = _stem(lesson), [*_for_students(lesson, engine), *_for_the_lecturer(lesson, engine), *_sources(lesson)]
    rows = [(each.name, each.purpose) for each in files]
    return [
        PackFile(
            "README.md",
            "what the files are for, and the commands that make them again",
            _text(lambda: readme_text(lesson, name, rows)),
        ),
        *files,
    ]


def _for_students(lesson: Lesson, engine: Engine) -> Iterator[PackFile]:
    name, tasks = _stem(lesson), _tasks(lesson)
    yield PackFile(f"students/{name}.pdf", "the slides as a handout", _reel(lesson, engine, theme=_PAPER))
    yield PackFile(f"students/{name}.html", "an interactive page that needs no network", _reel(lesson, engine))
    if tasks.stops:
        yield PackFile("students/worksheet.pdf", "questions and exercises, without answers", _reel(tasks, engine, theme=_PAPER))


def _for_the_lecturer(lesson: Lesson, engine: Engine) -> Iterator[PackFile]:
    yield PackFile(f"lecturer/{_stem(lesson)}.pptx", "slides, with notes for the speaker", _reel(lesson, engine))
    yield PackFile("lecturer/notes.md", "what to say at each step, with its duration", _text(lambda: _notes(lesson, engine)))
    if _tasks(lesson).stops:
        answers = _reel(_tasks(lesson), engine, answers=True, theme=_PAPER)
        yield PackFile("lecturer/worksheet-answers.pdf", "the worksheet with answers", answers)
    if any(stop.question is not None for stop in lesson.stops):
        purpose = "the questions of the lesson, for Moodle's question import"
        yield PackFile("lecturer/quiz.xml", purpose, _text(lambda: _quiz(lesson, engine)))
    purpose = "generated questions about a run of the lesson, for Moodle's question import"
    yield PackFile("lecturer/practice.xml", purpose, _text(lambda: _practice(lesson, engine)))


def _sources(lesson: Lesson) -> Iterator[PackFile]:
    yield PackFile(f"{_stem(lesson)}.toml", "the lesson; gemmviz opens it", _text(lambda: lesson_text(lesson)))
    for name, text in kernels_of(lesson).items():
        yield PackFile(f"kernels/{name}.cu", f"the kernel {name}", _text(lambda text=text: text))  # type: ignore[misc]


def kernels_of(lesson: Lesson) -> dict[str, str]:
    """The CUDA text of each kernel of a lesson by its name, those that steps are compared with included."""
    setups = [stop.shot.setup for stop in lesson.stops]
    setups += [stop.shot.against.setup for stop in lesson.stops if stop.shot.against is not None]
    return {name: text for name, text in sorted({each.kernel.name: each.kernel.text for each in setups}.items())}


def _stem(lesson: Lesson) -> str:
    return lesson.name or "lesson"


def _tasks(lesson: Lesson) -> Lesson:
    """The questions and exercises of a lesson alone."""
    return replace(lesson, stops=tuple(each for each in lesson.stops if each.question is not None or each.exercise is not None))


def _text(text: Callable[[], str]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text(), encoding="utf-8", newline="\n")

    return write


def _reel(lesson: Lesson, engine: Engine, answers: bool = False, theme: str = "") -> Callable[[Path], None]:
    """The function that writes a lesson in the format of a file's suffix. ``theme``: "" for that of each step."""

    def themed(shot: Shot) -> Shot:
        return replace(shot, theme=theme or shot.theme)

    def write(path: Path) -> None:
        save_reel(lesson_reel(lesson, _engine_of(engine), ExportOptions(), themed, answers), path)

    return write


def _engine_of(engine: Engine) -> EngineOf:
    def always(kernel: KernelSpec) -> nullcontext[Engine]:
        return nullcontext(engine)

    return with_stored_answers(always)


def _notes(lesson: Lesson, engine: Engine) -> str:
    return notes_text(lesson, _filled(lesson.stops, engine))


def _filled(stops: tuple[LessonStep, ...], engine: Engine) -> tuple[LessonStep, ...]:
    """Steps with the numbers in their texts."""
    return tuple(filled_step(each, ShotFacts(each.shot, engine)) for each in stops)


def _quiz(lesson: Lesson, engine: Engine) -> str:
    """The questions of a lesson for Moodle."""
    questions = tuple(each for each in lesson.stops if each.question is not None)
    return moodle_xml(replace(lesson, stops=_filled(questions, engine)))


def _practice(lesson: Lesson, engine: Engine) -> str:
    """Questions about the first run of a lesson that gives enough of them; none if no run does."""
    for count in _PRACTICE_LENGTHS:
        for stop in lesson.stops:
            with suppress(GemmvizError):  # too few different questions, or a kernel that fails on purpose
                return moodle_xml(quiz_of(stop.shot.setup, engine, count))
    return moodle_xml(replace(lesson, stops=()))
