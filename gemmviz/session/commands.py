"""Changes of what is shown, each one command of a person: view, colours, lens, labels, theme, chart, comparison."""

from dataclasses import replace

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.position import Position
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import device_for, setup_for
from gemmviz.model.chart import Opens
from gemmviz.model.errors import SettingError
from gemmviz.model.labels import LabelStyle
from gemmviz.model.problem import Problem
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.scenes.kit.window import Lens
from gemmviz.session.session import Session
from gemmviz.state.fields import FieldValue, put
from gemmviz.state.requested_sizes import RequestedSizes
from gemmviz.state.shot import LEAST_TYPE, MOST_TYPE, Against, Camera, ChartChoice
from gemmviz.subjects.catalog import subject_of_view

_COMPARE_NEXT = "Choose another kernel, size, parameter or device: it comes beside this one"


class Commands:
    """Commands on a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def change(self, name: str, value: FieldValue) -> None:
        """Sets one field of the setup."""
        session = self.session
        session.edited = name
        try:
            setup = put(session.shot.setup, name, value)
        except SettingError as error:
            session.runner.fail(error)
            return
        session.notices.drop("sizes")
        numbers = setup.sizes_and_parameters
        requested = session.requested.with_numbers(**{name: numbers[name]} if name in numbers else {})
        session.show(replace(session.shot, setup=setup), requested)

    def apply_remedy(self) -> None:
        """Sets what an error names as the nearest that works."""
        error = self.session.error
        if isinstance(error, SettingError):
            for name, value in error.nearest.items():
                self.change(name, value)

    def watch(self, focus: Focus) -> None:
        """Watches other threads."""
        session = self.session
        if session.launch is not None:
            focus = focus.within_launch(session.launch, device_for(session.shot.setup).warp_size)
        session.show(replace(session.shot, focus=focus))

    def click(self, hit: Hit) -> None:
        """Does what the subject has for a click on a cell. Raises UsageError where that is impossible."""
        session = self.session
        shot = session.display.clicked(hit)
        if shot is not None:
            session.show(shot, RequestedSizes.of(shot.setup) if shot.setup != session.shot.setup else None)

    def show_view(self, name: str) -> None:
        """Another view, of the same subject or of another one."""
        session = self.session
        if subject_of_view(name).kind is not session.display.kind.kind:
            session.player.play(False)
        session.show(replace(session.shot, view=name))

    def toggle_benchmark(self) -> None:
        """From the replay to the benchmark and back, each in its latest view."""
        display = self.session.display
        self.show_view(display.latest_replay if display.is_benchmark else display.latest_chart)

    def show_layer(self, layer: Layer) -> None:
        self.session.show(replace(self.session.shot, layer=layer))

    def show_lens(self, lens: Lens) -> None:
        """The relevant part of the matrices, or all of them, in a frame that is not zoomed."""
        self.session.show(replace(self.session.shot, lens=lens, camera=Camera()))

    def toggle_lens(self) -> None:
        self.show_lens("whole" if self.session.display.lens == "lens" else "lens")

    def set_labels(self, labels: LabelStyle) -> None:
        """How elements and threads are written, in every view."""
        self.session.show(replace(self.session.shot, labels=labels))

    def scale_type(self, factor: float) -> None:
        """Larger or smaller words."""
        scale = max(LEAST_TYPE, min(MOST_TYPE, round(self.session.shot.type_scale * factor, 3)))
        self.session.show(replace(self.session.shot, type_scale=scale))

    def choose_theme(self, name: str) -> None:
        self.session.show(replace(self.session.shot, theme=name))

    def choose_curves(self, chart: ChartChoice) -> None:
        self.session.show(replace(self.session.shot, chart=chart))

    def open_measured(self, opens: Opens) -> None:
        """The shipped kernel that a point of a chart stands for, at its size. Raises UsageError if there is none."""
        name, size, parameters = opens
        session = self.session
        device = session.shot.setup.device
        setup = setup_for(load_kernel(name), Problem(size, size, size), dict(parameters), device=device)
        shot = replace(session.shot, setup=setup, view=session.display.latest_replay, at=Position())
        session.show(shot, RequestedSizes.of(setup))

    # Comparing

    def compare_with(self, against: Against | None) -> None:
        """Another run beside this one; None for this one alone."""
        session = self.session
        view = _view_of_two(session.shot.view)
        if against is None and view == "pair":
            view = session.display.latest_replay
        session.show(replace(session.shot, against=against, view=view))

    def toggle_comparison(self) -> None:
        """Pins the run that is shown on the left, and shows on the right what is chosen from now on; or ends that.

        One warp is watched where nobody was chosen: two kernels differ in what its lanes do.
        """
        session, shot = self.session, self.session.shot
        if shot.against is not None:
            self.compare_with(None)
        elif session.shown is not None and not session.is_stale:
            run = session.shown
            session.comparison.pin(run)
            focus = replace(shot.focus, warp=0) if shot.focus == Focus(shot.focus.block) else shot.focus
            session.show(replace(shot, against=Against(run.setup), view=_view_of_two(shot.view), focus=focus))
            session.say(_COMPARE_NEXT)


def _view_of_two(view: str) -> str:
    """The view that shows a comparison: this one, if it can."""
    return view if subject_of_view(view).is_comparison else "pair"
