"""Actions of playback and of lectures."""

from collections.abc import Iterator
from functools import partial

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox

from gemmviz.cuda.launch.catalog import MAIN_LESSONS, lesson_names, plan_names
from gemmviz.gui.window.action import Action, ActionContext, needs_picture, needs_time
from gemmviz.model.translation import marked, tr
from gemmviz.teaching.lesson_file import lesson_title

_OF_LOOPS = {"next-phase": marked("&Next trip of the loop"), "previous-phase": marked("Pre&vious trip of the loop")}


def play_actions() -> Iterator[Action]:
    """Yield the actions of the Play menu."""
    for name, text, run, keys, description in (
        ("play", tr("&Play or pause"), _press_or_play, ("Space",), tr("play, pause")),
        ("play-backwards", tr("Play back&wards"), _play_backwards, ("R",), tr("play backwards")),
        ("step-forward", tr("Step &forward"), partial(_move_by, 1), ("Right", "."), tr("one step forward")),
        ("step-back", tr("Step &back"), partial(_move_by, -1), ("Left", ","), tr("one step back")),
        ("next-phase", tr("&Next phase"), partial(_jump_phase, 1), ("PgDown",), tr("next phase")),
        ("previous-phase", tr("Pre&vious phase"), partial(_jump_phase, -1), ("PgUp",), tr("previous phase")),
        ("first-step", tr("F&irst step"), lambda c: c.model.session.player.jump(0), ("Home",), tr("first step")),
        ("last-step", tr("&Last step"), _jump_to_end, ("End",), tr("last step")),
        ("faster", tr("Fas&ter"), lambda c: c.model.session.player.faster(1), ("+", "="), tr("faster")),
        ("slower", tr("&Slower"), lambda c: c.model.session.player.faster(-1), ("-",), tr("slower")),
    ):  # fmt: skip
        yield Action(name, "play", text, run, keys, description, partial(_text_for_run, name, text), needs_time)
    yield Action(
        "tile-size",
        "play",
        tr("T&ile size"),
        lambda c: c.replay.tiles.slider.setFocus(),
        ("I",),
        tr("tile size, then the arrow keys"),
        why_not=lambda c: "" if c.replay.tiles.isVisible() else tr("This picture has no tile size to change"),
        apart=True,
    )
    yield Action(
        "animate", "play", tr("&Animate single steps"),
        lambda c: c.model.session.player.animate(not c.model.session.player.is_animated),
        is_on=lambda c: c.model.session.player.is_animated, apart=True,
    )  # fmt: skip
    yield Action(
        "reduce-motion", "view.window", tr("R&educe motion"), _toggle_motion, help=tr("Fade copies in instead of moving them"),
        is_on=lambda c: c.model.session.player.is_calm,
    )  # fmt: skip


def _text_for_run(name: str, text: str, context: ActionContext) -> str:
    """Return the text of an action for the shown run: without barriers, a kernel has trips of its loop instead of phases."""
    run = context.model.session.completion.run
    return text if name not in _OF_LOOPS or run is None or run.replay.has_phases else tr(_OF_LOOPS[name])


def _press_or_play(context: ActionContext) -> None:
    """Press the button or open the list that has the focus; otherwise play or pause."""
    match QApplication.focusWidget():
        case QAbstractButton() as button:
            button.click()
        case QComboBox() as box:
            box.showPopup()
        case _:
            context.model.session.player.toggle()


def _play_backwards(context: ActionContext) -> None:
    player = context.model.session.player
    player.reverse(not player.is_backwards)


def _move_by(count: int, context: ActionContext) -> None:
    context.model.session.player.step_by(count)


def _jump_phase(count: int, context: ActionContext) -> None:
    session = context.model.session
    session.player.jump(session.navigation.phase_start(count))


def _jump_to_end(context: ActionContext) -> None:
    player = context.model.session.player
    player.jump(player.played.steps - 1)


def _toggle_motion(context: ActionContext) -> None:
    player = context.model.session.player
    player.set_calm(not player.is_calm)
    context.model.preferences.put("motion", "calm" if player.is_calm else "")


# Actions of lectures, lessons and saved views.

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
            why_not=lambda c: "" if c.model.active_lesson.lesson.steps else tr(_NOTHING_TO_WALK),
        )  # fmt: skip
    yield Action(
        "explore", "lecture", tr("E&xplore"), lambda c: c.model.course.toggle_explore(), ("Ctrl+Return",),
        tr("explore, or return to the lesson"),
        text_of=lambda c: tr("Return to the &lesson") if c.model.course.position.is_away else tr("E&xplore"),
        why_not=lambda c: "" if c.model.course.lesson.steps else tr(_NO_LESSON),
        is_on=lambda c: c.model.course.position.is_away,
    )  # fmt: skip
    menus = {name: menu for menu, names in {**MAIN_LESSONS, "plans": plan_names()}.items() for name in names}
    for name in lesson_names():
        run, is_on = partial(_open_lesson, name), partial(_is_lesson, name)
        yield Action(f"lesson-{name}", f"lecture.{menus.get(name, 'topics')}", lesson_title(name), run, is_on=is_on)
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
    return bool(context.model.course.lesson.steps) and context.model.course.lesson.name == name


def _walk(direction: int, context: ActionContext) -> None:
    context.model.active_lesson.walk(direction)


def _choose_screen(name: str, context: ActionContext) -> None:
    context.model.preferences.put("screen", name)


def _is_screen(name: str, context: ActionContext) -> bool:
    return context.model.preferences.text("screen") == name
