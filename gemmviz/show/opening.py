"""What a person opens: kernels, traces, saved views, benchmarks."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gemmviz.analysis.moment import Moment
from gemmviz.files.kinds import Kind, kind_of
from gemmviz.files.trace_file import read_trace
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import GemmvizError
from gemmviz.show.events import Event, Post
from gemmviz.show.following import Following
from gemmviz.show.notices import Notice
from gemmviz.show.session import Session
from gemmviz.show.shot import Shot, read_view
from gemmviz.show.wishes import Wishes, granted
from gemmviz.spec.catalog import load_kernel


class Opening:
    """Opens files into a session, and follows a kernel's own file: whenever that is saved it runs again. ``opened`` tells the
    path of what was opened.
    """

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.opened = Event()
        self.followed: Path | None = None
        self._following = Following(post, self._on_written)
        self._open: dict[Kind, Callable[[Path], bool]] = {
            "kernel": lambda path: self.choose_kernel(str(path)), "trace": self._open_trace, "view": self._open_view,
            "benchmark": self._open_benchmark,
        }  # fmt: skip

    def start(self, shot: Shot | None, plays: bool = False) -> None:
        """The first picture: of a shot, its kernel as it is in its file by now; or of the session's own."""
        shot = None if shot is None else _as_on_disk(shot)
        if shot is not None and not shot.setup.kernel.is_shipped:
            self._follow(Path(shot.setup.kernel.file))
        self.session.start(shot, plays)

    def open(self, path: Path) -> None:
        """A kernel is run, a trace and a benchmark are shown as they are, a view brings back what was saved. An error leaves
        what is shown.
        """
        try:
            is_read = self._open[kind_of(path)](path)
        except GemmvizError as error:
            self.session.complain("file", error)
        else:
            if is_read:
                self.session.close_notice("file")
                self.opened.tell(path)

    def choose_kernel(self, name: str) -> bool:
        """A shipped kernel by its name, or one in a file; with what a person set, as far as it can run so. False where it can't
        be read.
        """
        session = self.session
        path = Path(name).resolve() if Path(name).suffix == ".cu" or Path(name).is_file() else None
        self._follow(path)
        try:
            kernel = load_kernel(str(path or name))
        except GemmvizError as error:
            self._show_unread(path, error)
            return False
        session.unread = ""
        session.notices.drop("file", "sizes")
        found = granted(session.wishes.for_kernel(kernel, session.shot.setup))
        if found.instead:
            session.notices.put(Notice("sizes", found.instead, warns=False))
        session.ask(replace(session.shot, setup=found.setup, view=session.latest_view(Moment)))
        session.noticed.tell()
        return True

    def reload(self) -> None:
        """Reads the person's own file again."""
        if self.followed is not None:
            self.choose_kernel(str(self.followed))

    def close(self) -> None:
        self._following.close()

    def _show_unread(self, path: Path | None, error: GemmvizError) -> None:
        """A file that is no kernel is shown as text, with what is wrong marked in it."""
        self.session.stop_running()
        if path is not None:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                self.session.unread = path.read_text(encoding="utf-8")
        self.session.complain("file", error)
        self.session.asked.tell()

    def _open_trace(self, path: Path) -> bool:
        trace = read_trace(path)
        self._follow(None)
        self.session.show_trace(trace, path.name)
        return True

    def _open_view(self, path: Path) -> bool:
        shot = read_view(path)
        self._follow(None)
        self.session.player.play(False)
        self.session.unread = ""
        self.session.ask(shot, Wishes.of(shot.setup))
        return True

    def _open_benchmark(self, path: Path) -> bool:
        session = self.session
        name = session.benchmarks.open(path)
        session.player.play(False)
        chart = replace(session.shot.chart, source=name)
        session.ask(replace(session.shot, view=session.latest_view(Benchmark), chart=chart))
        return True

    def _follow(self, path: Path | None) -> None:
        self.followed = path if path is not None and path.is_absolute() else None
        self._following.follow(self.followed)

    def _on_written(self) -> None:
        if self.session.unread or str(self.followed) == self.session.shot.setup.kernel.file:
            self.reload()


def _as_on_disk(shot: Shot) -> Shot:
    """The shot with a person's own kernel as its file has it now; as it was where that can't be read."""
    kernel = shot.setup.kernel
    if kernel.is_shipped or not Path(kernel.file).is_absolute() or not Path(kernel.file).is_file():
        return shot
    try:
        fresh = load_kernel(kernel.file)
    except GemmvizError:
        return shot
    parameters = {name: shot.setup.parameters.get(name, default) for name, default in fresh.defaults.items()}
    return replace(shot, setup=replace(shot.setup, kernel=fresh, parameters=parameters))
