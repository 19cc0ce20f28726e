"""Loads a kernel: by its name, from a file with a header, or from a plain file whose launch is read and tried."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.files.kinds import KERNEL_SUFFIXES
from gemmviz.files.whole import is_file
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.draft import Draft, draft_of
from gemmviz.launch.drafted_spec import KernelText
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.guessed_launch import guesses, launch_by_names
from gemmviz.loading.outlines import launches_elsewhere, outline_of
from gemmviz.loading.project import Project, project_of
from gemmviz.loading.remembered import Remembered
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import SourceError, UsageError, closest
from gemmviz.model.kernel import KernelSpec, ProjectFile
from gemmviz.model.outline import FileOutline, KernelOutline
from gemmviz.run.trying import Found, find_roles, kinds_of

_BUDGET_S = 5.0
_FLAGS = "give them: --entry, --args, --block, --grid, --shared"
Progress = Callable[[str], None]


def open_kernel(
    name: str,
    given: GivenLaunch = GivenLaunch(),  # noqa: B008 - it is frozen
    *,
    progress: Progress = lambda sentence: None,
    cancelled: Callable[[], bool] = is_cancelled,
) -> KernelSpec:
    """The shipped kernel of this name ("04_tiled", or "tiled" for short), or the kernel in this file of CUDA C++.

    A header in the file describes the launch; without one the launch is read from the host code, and the roles of its arguments
    are found by running it. ``given`` parts take precedence over both. Raises UsageError for an unknown name and for a launch
    that can't be found, SourceError for a kernel that can't be read, and Cancelled.
    """
    path = Path(name)
    if path.suffix.lower() in KERNEL_SUFFIXES or is_file(path):
        return open_file(path, given, progress=progress, cancelled=cancelled)
    return given.applied(load_kernel(name))


def open_file(
    path: Path,
    given: GivenLaunch = GivenLaunch(),  # noqa: B008
    *,
    progress: Progress = lambda sentence: None,
    cancelled: Callable[[], bool] = is_cancelled,
) -> KernelSpec:
    """The kernel in a file; arguments and errors are those of ``open_kernel``."""
    project = project_of(path)
    text = project.texts[project.own_name]
    if has_header(text):
        spec = parse_kernel(text, str(path))
        return given.applied(replace(spec, own_name=project.own_name, project=_others(project)))
    return _Reading(project, path, given, progress, cancelled).kernel()


def _others(project: Project) -> tuple[ProjectFile, ...]:
    """The project's files besides the opened one."""
    return tuple(ProjectFile(name, text) for name, text in project.texts.items() if name != project.own_name)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A draft to find roles for, with the parts of its launch that are given or guessed."""

    draft: Draft
    given: GivenLaunch
    is_guess: bool


class _Reading:
    """Finds the launch of one of a file's kernels, and what its arguments are."""

    def __init__(
        self, project: Project, path: Path, given: GivenLaunch, progress: Progress, cancelled: Callable[[], bool]
    ) -> None:
        self.project, self.given, self.progress, self.cancelled = project, given, progress, cancelled
        text = project.texts[project.own_name]
        self.source = KernelText(path.stem, str(path), text, project.own_name, _others(project))
        self.until = time.monotonic() + _BUDGET_S
        self.remembered = Remembered()
        self.refusal: SourceError | None = None

    def kernel(self) -> KernelSpec:
        """The kernel with its launch. Raises the errors of ``open_kernel``."""
        outline = outline_of(self.project, cancelled=self.cancelled)
        drafts: list[_Attempt] = []
        for kernel in self._chosen(outline):
            for attempt in self._attempts(kernel, outline):
                drafts.append(attempt)
                found = self._try(attempt)
                if found is not None:
                    return found
        raise self._failure(drafts)

    def _chosen(self, outline: FileOutline) -> list[KernelOutline]:
        """The requested kernel, or all of the file: launched ones first. Raises SourceError or UsageError if there is none."""
        own = [each for each in outline.kernels if each.file == self.project.own_name] or list(outline.kernels)
        if not own:
            remedy = "a kernel is a function that begins with __global__ void"
            raise SourceError("the file has no kernel", file=self.source.file, remedy=remedy)
        function = self.given.entry.split("<")[0].strip().removeprefix("::")
        if function:
            named = [each for each in own if f"::{each.name}".endswith(f"::{function}")]
            if not named:
                names = [each.name for each in own]
                remedy = closest(function, names) or f"its kernels are {', '.join(names)}"
                raise UsageError(f"the file has no kernel {function}", file=self.source.file, remedy=remedy)
            return named
        launched = [launch.kernel for launch in outline.launches]
        return sorted(own, key=lambda each: launched.index(each.name) if each.name in launched else len(launched))

    def _attempts(self, kernel: KernelOutline, outline: FileOutline) -> Iterator[_Attempt]:
        """Drafts of the kernel's launches, in this file or another one; of guesses if it is launched nowhere."""
        launches = outline.launches_of(kernel.name) or launches_elsewhere(self.project, kernel, cancelled=self.cancelled)
        read = [launch for launch in launches if launch.is_read or (self.given.block and self.given.grid)]
        for launch in read:
            yield _Attempt(draft_of(kernel, launch), self.given, is_guess=False)
        if read:
            return
        draft = draft_of(kernel, launches[0] if launches else launch_by_names(kernel))
        if self.given.block and self.given.grid:
            yield _Attempt(draft, self.given, is_guess=False)
            return
        for kind in kinds_of(draft)[:1]:
            for guess in guesses(self.source.text, tuple(size.name for size in kind.sizes if not size.is_optional)):
                block, grid = self.given.block or guess.block, self.given.grid or guess.grid
                yield _Attempt(draft, replace(self.given, block=block, grid=grid), is_guess=True)

    def _try(self, attempt: _Attempt) -> KernelSpec | None:
        left_s = self.until - time.monotonic()
        if left_s <= 0:
            return None
        self.progress(f"Trying what the arguments of {attempt.draft.entry} are")
        likely = self.remembered.roles(self.source, attempt.draft)
        try:
            found = find_roles(
                self.source, attempt.draft, given=attempt.given, likely=likely, budget_s=left_s, cancelled=self.cancelled
            )
        except SourceError as error:
            self.refusal = self.refusal or error
            return None
        if found is None:
            return None
        self.remembered.add(self.source, attempt.draft, found.roles)
        return _with_origin(found, attempt, self.given)

    def _failure(self, attempts: list[_Attempt]) -> SourceError | UsageError:
        if self.refusal is not None:
            return self.refusal
        names = ", ".join(dict.fromkeys(attempt.draft.entry for attempt in attempts))
        if all(attempt.is_guess for attempt in attempts):
            message = f"{names} is launched nowhere in the project, and no usual launch gives a right result"
        else:
            message = f"what the arguments of {names} are can't be found by trying"
        return UsageError(message, file=self.source.file, remedy=_FLAGS)


def _with_origin(found: Found, attempt: _Attempt, given: GivenLaunch) -> KernelSpec:
    origin = "given" if given else "guessed" if attempt.is_guess else "read"
    return replace(found.spec, launch_from=origin)
