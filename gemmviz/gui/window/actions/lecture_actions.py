"""Actions of lectures, lessons and saved views."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtGui import QGuiApplication

from gemmviz.gui.window.action import Action, needs_picture
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.launch.catalog import lesson_names
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson_file import lesson_title

_NOTHING_TO_WALK = marked("There is no lesson and no saved view. Press Shift+B to save one")
_NO_LESSON = marked("There is no lesson. Choose one in the Lessons panel")


def lecture_actions() -> Iterator[Action]:
    """Yield the actions of the Lecture menu."""
    yield Action(
        "lecture",
        "lecture",
        tr("&Begin"),
        lambda c: c.begin_lecture(False),
        ("F5",),
        tr("start the lecture"),
        why_not=needs_picture,
    )
    yield Action(
        "presenter", "lecture", tr("Begin with &presenter view"), lambda c: c.begin_lecture(True), ("Shift+F5",),
        tr("start the lecture with the presenter view"), why_not=needs_picture,
    )  # fmt: skip
    yield Action(
        "add-saved-view", "lecture", tr("&Add to saved views"), lambda c: c.model.saved_views.keep(), ("Shift+B",),
        tr("add to the saved views"), why_not=needs_picture, apart=True,
    )  # fmt: skip
    for name, text, direction, key, description in (
        ("next-view", tr("&Next view"), 1, "Ctrl+PgDown", tr("next saved view")),
        ("previous-view", tr("Pre&vious view"), -1, "Ctrl+PgUp", tr("previous saved view")),
    ):
        yield Action(
            name, "lecture", text, partial(_walk, direction), (key,), description,
            why_not=lambda c: "" if c.model.active_lesson.lesson.stops else tr(_NOTHING_TO_WALK),
        )  # fmt: skip
    yield Action(
        "explore", "lecture", tr("E&xplore"), lambda c: c.model.course.toggle_explore(), ("Ctrl+Return",),
        tr("explore, or return to the lesson"),
        text_of=lambda c: tr("Return to the &lesson") if c.model.course.is_away else tr("E&xplore"),
        why_not=lambda c: "" if c.model.course.lesson.stops else tr(_NO_LESSON), is_on=lambda c: c.model.course.is_away,
    )  # fmt: skip
    for name in lesson_names():
        run, is_on = partial(_open_lesson, name), partial(_is_lesson, name)
        yield Action(f"lesson-{name}", "lecture.lessons", lesson_title(name), run, is_on=is_on)
    yield from _screens()


def _screens() -> Iterator[Action]:
    titles = {"": tr("Same screen as the window")}
    for screen in QGuiApplication.screens() if QGuiApplication.instance() is not None else ():
        size = screen.geometry()
        titles[screen.name()] = f"{screen.name() or tr('Screen')}, {size.width()} × {size.height()}"
    for name, title in titles.items():
        run, is_on = partial(_choose_screen, name), partial(_is_screen, name)
        yield Action(f"screen-{name}", "lecture.screen", title, run, is_on=is_on)


def _open_lesson(name: str, context: ActionContext) -> None:
    context.model.opening.open_lesson(name)


def _is_lesson(name: str, context: ActionContext) -> bool:
    return bool(context.model.course.lesson.stops) and context.model.course.lesson.name == name


def _walk(direction: int, context: ActionContext) -> None:
    context.model.active_lesson.walk(direction)


def _choose_screen(name: str, context: ActionContext) -> None:
    context.model.preferences.put("screen", name)


def _is_screen(name: str, context: ActionContext) -> bool:
    return context.model.preferences.text("screen") == name
