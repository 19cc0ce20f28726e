"""File dialogs, and the opening, saving and copying that they start. Errors are shown in the window."""

from collections.abc import Callable
from pathlib import Path

from msgspec import structs
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from gemmviz.files.resources import chart_csv, check_output, dialog_filters, file_stem, with_suffix, write_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.chart import Chart
from gemmviz.model.messages import UsageError, tr
from gemmviz.render.qt.painter import scene_image
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.shots.shot import save_view


def ask_to_open(model: WindowModel, parent: QWidget) -> None:
    name, _ = QFileDialog.getOpenFileName(parent, tr("Open"), "", ";;".join(dialog_filters()))
    if name:
        model.opening.open(Path(name))


def ask_to_open_folder(model: WindowModel, parent: QWidget) -> None:
    """Open a folder: the only kernel file in it, or one that the user chooses."""
    name = QFileDialog.getExistingDirectory(parent, tr("Open folder"))
    if name:
        model.opening.open(Path(name))


def edit_copy(model: WindowModel) -> None:
    """Copy the kernel and open the copy here and in the system's editor; the replay follows each time it is saved."""
    path = model.opening.edit_copy()
    if path is not None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
        model.session.say(tr("{path} is shown again each time you save it", path=path))


def paste_kernel(model: WindowModel) -> None:
    """Open the text of the clipboard as a kernel."""
    model.opening.paste(QGuiApplication.clipboard().text())


def ask_to_save_trace(model: WindowModel, parent: QWidget) -> None:
    from gemmviz.files.trace_file import write_trace

    shown = model.session.shown
    if shown is not None:
        name = f"{file_stem(shown.setup.kernel.name)}.gvt"
        _write(
            model,
            parent,
            tr("Save trace"),
            name,
            tr("Traces (*.gvt)"),
            lambda path: write_trace(shown.trace, path),
            recent=True,
        )


def ask_to_save_view(model: WindowModel, parent: QWidget) -> None:
    """Save the current view as a file."""
    shot = model.session.shot
    name = f"{file_stem(shot.setup.kernel.name)}-{shot.view}.toml"
    _write(model, parent, tr("Save view"), name, tr("Saved views (*.toml)"), lambda path: save_view(shot, path), recent=True)


def ask_to_save_lesson(model: WindowModel, parent: QWidget) -> None:
    """Save the saved views as a lesson file."""
    from gemmviz.teaching.lesson_file import save_lesson

    lesson = model.saved_views.lesson
    _write(
        model,
        parent,
        tr("Save lesson"),
        "lesson.toml",
        tr("Lessons (*.toml)"),
        lambda path: save_lesson(lesson, path),
        recent=True,
    )


def seen(model: WindowModel) -> Scene | None:
    """Return the current picture at rest, in the format of a slide; None if there is none."""
    from gemmviz.shots.picture import picture

    subject = model.session.display.subject
    return None if subject is None else picture(structs.replace(model.session.shot, moment=1.0), subject, model.theme)


def save_scene(model: WindowModel, parent: QWidget, scene: Scene, name: str, suffix: str) -> None:
    """Ask for a file name and save a picture."""
    from gemmviz.render.export import save_frame

    kind = f"{suffix.upper()} (*.{suffix})"
    _write(model, parent, tr("Save picture"), f"{name}.{suffix}", kind, lambda path: save_frame(scene, path), draws=True)


def save_numbers(model: WindowModel, parent: QWidget, chart: Chart) -> None:
    """Ask for a file name and save the numbers of a chart."""
    _write(model, parent, tr("Save numbers"), "chart.csv", tr("CSV (*.csv)"), lambda path: write_text(path, chart_csv(chart)))


def ask_to_save_benchmark(model: WindowModel, parent: QWidget) -> None:
    from gemmviz.files.recordings import benchmark_text

    benchmark = model.session.display.subject
    if benchmark is not None and model.session.display.is_benchmark:
        text = benchmark_text(benchmark)
        _write(
            model,
            parent,
            tr("Save benchmark"),
            "benchmark.json",
            tr("Benchmarks (*.json)"),
            lambda path: write_text(path, text),
        )


def copy_scene(model: WindowModel, scene: Scene) -> None:
    """Copy a picture of 1920 x 1080 pixels to the clipboard."""
    from gemmviz.render.reel import RenderOptions

    QGuiApplication.clipboard().setImage(scene_image(scene, RenderOptions().scale(scene)))
    model.session.say(tr("The picture was copied to the clipboard"))


def copy_frame(model: WindowModel) -> None:
    scene = seen(model)
    if scene is not None:
        copy_scene(model, scene)


def copy_command(model: WindowModel) -> None:
    """Copy the command line for the current picture to the clipboard."""
    from gemmviz.shots.arguments import command_line

    QGuiApplication.clipboard().setText(command_line(model.session.shot))
    model.session.say(tr("The command line was copied to the clipboard"))


def chart_of(model: WindowModel) -> Chart | None:
    """Return the current chart, None if the view is not a chart."""
    view, subject = view_named(model.session.shot.view), model.session.display.subject
    return None if view.chart is None or subject is None else view.chart(subject).showing(model.session.shot.chart.shown)


def _write(
    model: WindowModel,
    parent: QWidget,
    title: str,
    suggestion: str,
    kind: str,
    write: Callable[[Path], None],
    *,
    recent: bool = False,
    draws: bool = False,
) -> None:
    """Write a file in the background. ``recent``: add it to the recent files; ``draws``: it paints, so it must run on the
    window's thread.
    """
    name, _ = QFileDialog.getSaveFileName(parent, title, suggestion, kind)
    if not name:
        return
    suffix = Path(suggestion).suffix
    path, kernel = with_suffix(Path(name), suffix), model.session.shot.setup.kernel
    try:
        check_output(path, (suffix,), [] if kernel.is_shipped else [Path(kernel.file)])
    except UsageError as error:
        model.session.notices.complain("file", error)
        return

    def saved(path: Path) -> None:
        model.session.notices.drop("file")
        if recent:
            model.preferences.add_recent(path)
        model.session.say(tr("Saved {path}", path=path))

    model.saving.start(path, write, saved, lambda error: model.session.notices.complain("file", error), at_once=draws)
