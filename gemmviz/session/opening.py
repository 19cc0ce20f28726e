"""Opening of kernels, traces, saved views, benchmarks and lessons; files are read on a background thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs
from psygnal import Signal

from gemmviz.analysis.replay.focus import Focus
from gemmviz.cuda.launch.launch_form import GivenLaunch, form_of, with_header
from gemmviz.cuda.program import program_for
from gemmviz.files.kernel_file import has_header, kernel_text
from gemmviz.files.resources import file_stem, is_file, is_folder, kind_of, split_name, user_folder, write_text
from gemmviz.model.kernel import KernelSpec, check_text
from gemmviz.model.messages import GemmvizError, UsageError, tr
from gemmviz.model.setup import Setup
from gemmviz.session.lessons import LessonEditor, LessonPlayer
from gemmviz.session.notices import Notice, Offer
from gemmviz.session.session import Session
from gemmviz.session.state import Refuse
from gemmviz.shots.jobs import FileWatcher, LatestTask, Post
from gemmviz.shots.runs import RequestedSizes, ResolvedSetup, recorded_run, resolve
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson_file import read_lesson, shipped_lesson

if TYPE_CHECKING:
    from gemmviz.run.loader import LaunchUnknown, Opened

# Files of kernels in the user's own folder: copies of shipped kernels, and texts that were pasted.

_KERNEL_FOLDER = "kernels"
_KERNEL_WORD = "__global__"


def copy_of(kernel: KernelSpec) -> Path:
    """A new file with the text of a kernel. Raises GemmvizError if it can't be written."""
    return _new_file(file_stem(kernel.name), kernel.text)


def pasted(text: str) -> Path:
    """A new file with this text. Raises UsageError for a text without a kernel, GemmvizError if the file can't be written."""
    if _KERNEL_WORD not in text:
        raise UsageError(tr("the clipboard holds no kernel"), remedy=tr("copy the text of a file with a __global__ function"))
    check_text(text, tr("the clipboard"))
    return _new_file("pasted", text.replace("\r\n", "\n"))


def insert_header(kernel: KernelSpec) -> None:
    """Write a kernel's launch into its file, as a header. Raises UsageError if the file changed since it was read, or has a
    header, GemmvizError if it can't be written.
    """
    path = Path(kernel.file)
    text = kernel_text(path)
    if text != kernel.text or has_header(text):
        raise UsageError(tr("the file changed since it was read"), file=kernel.file, remedy=tr("load it again"))
    write_text(path, with_header(kernel, text))


def can_insert_header(kernel: KernelSpec) -> bool:
    """Whether a kernel comes from a file without a header."""
    return not kernel.is_shipped and kernel.launch_from != "header" and Path(kernel.file).is_absolute()


def _new_file(stem: str, text: str) -> Path:
    folder = user_folder(_KERNEL_FOLDER)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GemmvizError(tr("the folder can't be made: {strerror}", strerror=error.strerror), file=str(folder)) from None
    names = (f"{stem}.cu", *(f"{stem}-{number}.cu" for number in range(2, 1000)))
    path = next((folder / name for name in names if not (folder / name).exists()), folder / names[-1])
    write_text(path, text)
    return path


ShowOpened = Callable[[], None]


class Opening:
    """Opens files in a session and runs the user's kernel again whenever its file is saved. Signals: ``opened`` with the path
    of a file; ``busy_changed`` when reading starts or ends; ``form_requested`` with the form of a launch to be filled in;
    ``choice_requested`` with the kernel files of a folder.
    """

    opened = Signal(object)
    busy_changed = Signal()
    form_requested = Signal(object)
    choice_requested = Signal(object)

    def __init__(self, session: Session, post: Post, saved_views: LessonEditor, course: LessonPlayer) -> None:
        self.session, self.saved_views, self.course = session, saved_views, course
        self.followed: Path | None = None
        self.worker: LatestTask[ShowOpened] = LatestTask(post, self._on_read, self._on_failed)
        self.work = ""  # what is being done to read a file, as a sentence
        self._post = post
        self.names: tuple[str, ...] = ()  # kernels of the file that was opened last
        self._given: dict[Path, GivenLaunch] = {}
        self._fallback: Shot | None = None
        self._has_failed = False
        session.notices.changed.connect(self._on_notices)
        self._watcher = FileWatcher(post, self._on_file_changed)

    @property
    def is_busy(self) -> bool:
        """Whether a file is being read."""
        return self.worker.is_busy

    def start(self, shot: Shot | None, plays: bool = False) -> None:
        """Show the first picture: ``shot`` with its kernel re-read from disk, or the session's own shot."""
        shot = None if shot is None else _as_on_disk(shot)
        if shot is not None and not shot.setup.kernel.is_shipped:
            self._follow(Path(shot.setup.kernel.file))
        self.session.start(shot, plays)

    def open(self, path: Path, fallback: Shot | None = None) -> None:
        """Open a file: run a kernel, or show a trace, a benchmark, a saved view or a lesson. On errors the display doesn't
        change; if nothing is displayed yet, ``fallback`` or the session's own shot is shown.
        """
        self._fallback = fallback
        if is_folder(path):
            self._read(lambda: self._folder(path))
            return
        match kind_of(path):
            case "kernel":
                self.choose_kernel(str(path))
            case "trace":
                self._read(lambda: self._trace(path))
            case "view":
                self._read(lambda: self._view(path))
            case "benchmark":
                self._read(lambda: self._benchmark(path))

    def open_lesson(self, name: str, fallback: Shot | None = None) -> None:
        """Start a shipped lesson. ``fallback`` as in ``open``."""
        self._fallback = fallback
        self._read(lambda: self._shipped_lesson(name))

    def choose_kernel(self, name: str, given: GivenLaunch | None = None) -> None:
        """Select a shipped kernel by name, or one in a file, with these parts of its launch: by default those that were given
        for the file before. The user's settings are kept as far as the kernel can run with them.
        """
        from gemmviz.run.loader import NOTHING_GIVEN, Opened, is_kernel_file, open_kernel

        file, entry = split_name(name)
        given = GivenLaunch(entry) if entry and given is None else given
        path = Path(file).resolve() if is_kernel_file(name) else None
        requested, before = self.session.state.requested, self.session.shot.setup
        if path is None:
            self._follow(None)
            self.worker.cancel()
            self.busy_changed.emit()
            try:
                kernel = open_kernel(name)  # a shipped kernel is small
                self._show_kernel(Opened(kernel), resolve(requested.for_kernel(kernel, before)), requested, before)
            except GemmvizError as error:
                self._on_failed(error)
        else:
            given = self._given.get(path, NOTHING_GIVEN) if given is None else given
            self._read(lambda: self._own_kernel(path, given, requested, before))

    def edit_launch(self) -> None:
        """Request the form of the present kernel's launch."""
        setup = self.session.shot.setup
        names = self.names if setup.kernel.file == str(self.followed) else ()
        self.form_requested.emit(form_of(_with_names(setup), names))

    @property
    def can_insert_header(self) -> bool:
        """Whether the present kernel comes from a file without a header."""
        return can_insert_header(self.session.shot.setup.kernel)

    def insert_header(self) -> None:
        """Write the launch of the present kernel into its file, and read the file again."""
        kernel = self.session.shot.setup.kernel
        self._do(lambda: insert_header(kernel))
        self._given.pop(Path(kernel.file), None)
        self.reload()

    def edit_copy(self) -> Path | None:
        """Copy the present kernel into the user's folder and open the copy, which is followed while it is edited. None, with a
        notice, if it can't be written.
        """
        kernel = self.session.shot.setup.kernel
        return self._do(lambda: copy_of(kernel))

    def paste(self, text: str) -> None:
        """Open a text as a kernel, from a new file in the user's folder."""
        self._do(lambda: pasted(text))

    def _do(self, work: Callable[[], Path | None]) -> Path | None:
        """The result of ``work``, which is opened if it is a file. Errors become a notice."""
        try:
            path = work()
        except GemmvizError as error:
            self._on_failed(error)
            return None
        if path is not None:
            self.open(path)
        return path

    def reload(self) -> None:
        """Read the user's kernel file again."""
        if self.followed is not None:
            self.choose_kernel(str(self.followed))

    def forget_file(self) -> None:
        """Stop following the user's file."""
        self._follow(None)

    def close(self) -> None:
        self._watcher.close()
        self.worker.close()

    # Reading

    def _read(self, work: Callable[[], ShowOpened]) -> None:
        self.work = ""
        self.worker.start(work)
        self.busy_changed.emit()

    def _on_read(self, show: ShowOpened) -> None:
        show()
        self.busy_changed.emit()

    def _on_failed(self, error: GemmvizError) -> None:
        from gemmviz.run.loader import LaunchUnknown

        if isinstance(error, LaunchUnknown):
            self._offer_form(error)
        else:
            self.session.notices.complain("file", error)
        if self.session.shown is None and not self.session.is_busy and self.session.error is None:
            self.start(self._fallback)
        self.busy_changed.emit()

    def _offer_form(self, error: LaunchUnknown) -> None:
        """Show the error with an offer of the form."""
        offer = Offer(
            tr("Describe the launch …"), tr("Say what each argument is"), lambda: self.form_requested.emit(error.form)
        )
        self.session.notices.put(Notice("file", f"{error.file}: {error.message}", offer=offer))

    def _own_kernel(self, path: Path, given: GivenLaunch, requested: RequestedSizes, before: Setup) -> ShowOpened:
        """Read and run a kernel file. If it can't be read, the display doesn't change; the file is followed until it can."""
        from gemmviz.run.loader import opened

        is_same = str(path) == before.kernel.file
        try:
            same = before.kernel if is_same else None
            read = opened(str(path), given, before=same, remembers=True, progress=self._report)
        except GemmvizError as error:
            failure = error
            return lambda: self._on_unreadable(path, failure, is_same)
        if not is_same and read.kernel.launch_from != "header":
            requested = RequestedSizes()  # sizes of another kernel needn't suit it
        resolved = resolve(requested.for_kernel(read.kernel, before))

        def show() -> None:
            if given:
                self._given[path] = given
            self._show_kernel(read, resolved, requested, before)

        return self._and_announce(path, show)

    def _report(self, sentence: str) -> None:
        """Say, from the thread that reads, what it does."""
        self._post(lambda: self._on_progress(sentence))

    def _on_progress(self, sentence: str) -> None:
        self.work = sentence if self.is_busy else ""
        self.busy_changed.emit()

    def _on_unreadable(self, path: Path, error: GemmvizError, is_same: bool) -> None:
        if is_same or self.session.shot.setup.kernel.is_shipped:
            self._follow(path)
        self._has_failed = True
        self._on_failed(error)
        if not is_same:
            kernel = self.session.shot.setup.kernel.name
            sentence = tr("{name} can't be shown. Close the message to see {kernel} again", name=path.name, kernel=kernel)
            self.session.apply(Refuse(sentence))

    def _on_notices(self) -> None:
        """Show the picture again once the message about a refused file is gone."""
        session = self.session
        if session.display.refusal and all(notice.topic != "file" for notice in session.notices.all):
            session.apply(Refuse(""))

    def _folder(self, path: Path) -> ShowOpened:
        """Open the only file with a kernel of a folder, or request a choice of one. Raises UsageError if there is none."""
        from gemmviz.run.project import kernel_files

        files = kernel_files(path)
        if not files:
            raise UsageError(tr("no file of the folder has a kernel"), file=str(path))
        return lambda: self.open(files[0], self._fallback) if len(files) == 1 else self.choice_requested.emit(files)

    def _trace(self, path: Path) -> ShowOpened:
        from gemmviz.files.trace_file import read_trace

        run = recorded_run(read_trace(path))

        def show() -> None:
            self._follow(None)
            self.session.show_recorded(run, path.name)

        return self._and_announce(path, show)

    def _shipped_lesson(self, name: str) -> ShowOpened:
        lesson = shipped_lesson(name)

        def show() -> None:
            self._leave_file()
            self.course.begin(lesson)

        return show

    def _view(self, path: Path) -> ShowOpened:
        lesson = read_lesson(path)

        def show() -> None:
            self._leave_file()
            if any(stop.expect or stop.question or stop.exercise for stop in lesson.steps):
                self.course.begin(lesson)
            elif len(lesson.steps) > 1:
                self.saved_views.open(lesson)
            else:
                shot = lesson.steps[0].shot
                self.session.show(shot, RequestedSizes.of(shot.setup))

        return self._and_announce(path, show)

    def _benchmark(self, path: Path) -> ShowOpened:
        from gemmviz.files.recordings import read_benchmark

        benchmark = read_benchmark(path)

        def show() -> None:
            session = self.session
            chart = structs.replace(session.shot.chart, source=session.benchmarks.add(benchmark, path.name))
            session.player.play(False)
            session.alter(view=session.display.latest_chart, chart=chart)

        return self._and_announce(path, show)

    def _and_announce(self, path: Path, show: ShowOpened) -> ShowOpened:
        def both() -> None:
            show()
            self.session.notices.drop("file")
            self.opened.emit(path)

        return both

    # Showing

    def _show_kernel(self, read: Opened, resolved: ResolvedSetup, requested: RequestedSizes, before: Setup) -> None:
        session, kernel = self.session, read.kernel
        if session.shot.setup != before:  # settings changed while the file was read
            resolved = resolve(session.state.requested.for_kernel(kernel, session.shot.setup))
            requested = session.state.requested
        self.names, self._has_failed = read.names, False
        self._follow(None if kernel.is_shipped else Path(kernel.file))
        session.notices.drop("file", "sizes")
        if resolved.explanation:
            session.notices.put(Notice("sizes", resolved.explanation, warns=False))
        view = session.display.latest_replay if session.display.is_benchmark else session.shot.view
        known = session.shot.setup.kernel
        is_other = kernel.entry != known.entry or (kernel.file != known.file and kernel.text != known.text)
        focus = Focus() if is_other and not (kernel.is_shipped and known.is_shipped) else session.shot.focus
        against = session.shot.against
        is_over = against is not None and against.setup.problem.kind is not resolved.setup.problem.kind
        if is_over:
            against, view = None, session.display.latest_replay if "compared" in subject_of_view(view).needs else view
        session.alter(requested, setup=resolved.setup, view=view, focus=focus, against=against)
        if is_over:
            session.say(tr("The comparison has ended: {kernel} solves another problem", kernel=kernel.name))

    def _leave_file(self) -> None:
        """Stop playback, stop following the user's file, and remove the message about it."""
        self._follow(None)
        self.session.notices.drop("file")
        self.session.player.play(False)

    def _follow(self, path: Path | None) -> None:
        self.followed = path if path is not None and path.is_absolute() else None
        self._watcher.follow(self.followed)

    def _on_file_changed(self) -> None:
        if self._has_failed or str(self.followed) == self.session.shot.setup.kernel.file:
            self.reload()


def _as_on_disk(shot: Shot) -> Shot:
    """The shot with the user's kernel re-read from its file; unchanged if the file can't be read."""
    from gemmviz.run.loader import open_kernel

    kernel = shot.setup.kernel
    if kernel.is_shipped or not Path(kernel.file).is_absolute() or not is_file(Path(kernel.file)):
        return shot
    try:
        fresh = open_kernel(kernel.file)
    except GemmvizError:
        return shot
    parameters = {name: shot.setup.parameters.get(name, default) for name, default in fresh.defaults.items()}
    return structs.replace(shot, setup=structs.replace(shot.setup, kernel=fresh, parameters=parameters))


def _with_names(setup: Setup) -> KernelSpec:
    """The kernel with the names of its parameters, which a header doesn't give; as it is if it can't be read."""
    kernel = setup.kernel
    if kernel.parameter_names:
        return kernel
    with suppress(GemmvizError):
        parameters = program_for(kernel, setup.definitions).parameters
        return structs.replace(kernel, parameter_names=tuple(each.name for each in parameters))
    return kernel
