"""A file without a header: which of its kernels is shown, how it is launched, and what its arguments are."""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from gemmviz.launch.confirmation import GUESSED, ILLEGAL, NOT_READ
from gemmviz.launch.draft import Draft, draft_of
from gemmviz.launch.drafted_spec import KernelText
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.guessed_launch import completed, guesses, launch_by_names, without_open_extents
from gemmviz.launch.launch_form import LaunchForm, form_of_draft
from gemmviz.launch.legal_block import with_legal_block
from gemmviz.launch.restated import restated
from gemmviz.launch.tilings import tilings
from gemmviz.loading.outlines import launches_elsewhere, outline_of
from gemmviz.loading.project import Project
from gemmviz.loading.remembered import Remembered
from gemmviz.model.errors import SourceError, UsageError, closest
from gemmviz.model.kernel import KernelSpec, LaunchOrigin
from gemmviz.model.outline import FileOutline, KernelOutline, LaunchOutline
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.run.trial import WorkBudget, is_right
from gemmviz.run.trying import find_roles, kinds_of, likeliest, read_text_of, unchecked

_OF_FILE, _AGAIN = 100 << 20, 30 << 20  # units of work
_RUNS_OF_A_GUESS, _RUNS_AT_FIRST = 12, 32  # with the likeliest roles, before the next launch is tried
_FLAGS = marked("describe it with --entry, --args, --block, --grid and --shared")


class LaunchUnknown(UsageError):
    """A kernel can be read, but not how it is launched or what its arguments are. ``form``: asks for what is missing."""

    def __init__(self, message: str, form: LaunchForm) -> None:
        super().__init__(message, file=form.file, remedy=tr(_FLAGS))
        self.form = form


class _Attempt(Struct, frozen=True):
    """A draft to find roles for, with the parts of its launch that are given or guessed. ``doubt``: what is uncertain about the
    launch; of a guess, whatever its result, else only if its result isn't right.
    """

    draft: Draft
    given: GivenLaunch
    is_guess: bool = False
    doubt: str = ""


def read_headerless(
    project: Project,
    path: Path,
    given: GivenLaunch,
    before: KernelSpec | None,
    progress: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> tuple[KernelSpec, tuple[str, ...]]:
    """The kernel with its launch, and the names of the file's kernels. Raises LaunchUnknown, SourceError, UsageError and
    Cancelled.
    """
    outline = outline_of(project, cancelled=cancelled)
    own = [each for each in outline.kernels if each.file == project.own_name] or list(outline.kernels)
    names = tuple(each.name for each in own)
    if not own:
        remedy = tr("a kernel is a function that begins with __global__ void")
        raise SourceError(tr("the file has no kernel"), file=str(path), remedy=remedy)
    chosen = _named(own, given, str(path)) if given.entry else _by_launch(own, outline)
    search = _Search(project, path, given, names, progress, cancelled)
    if before is None or given != GivenLaunch() or before.launch_from == "given":
        return search.kernel(chosen, outline), names
    return search.kernel_again(chosen, outline, before), names


def _named(kernels: list[KernelOutline], given: GivenLaunch, file: str) -> list[KernelOutline]:
    """The kernel that is asked for by name, whose namespaces may be omitted. Raises UsageError if there is none."""
    function = given.entry.split("<")[0].strip().removeprefix("::")
    named = [each for each in kernels if f"::{each.name}".endswith(f"::{function}")]
    if not named:
        names = [each.name for each in kernels]
        remedy = closest(function, names) or tr("its kernels are {names}", names=", ".join(names))
        raise UsageError(tr("the file has no kernel {function}", function=function), file=file, remedy=remedy)
    return named


def _by_launch(kernels: list[KernelOutline], outline: FileOutline) -> list[KernelOutline]:
    """All kernels: launched ones first, in the order of their launches."""
    launched = [launch.kernel for launch in outline.launches]
    return sorted(kernels, key=lambda each: launched.index(each.name) if each.name in launched else len(launched))


def _is_plain(spec: KernelSpec, draft: Draft) -> bool:
    """Whether a spec multiplies, and has a pointer for each matrix."""
    return spec.problem.is_multiply and len(draft.pointers) == len(spec.problem.arrays)


def _unread(launch: LaunchOutline) -> str:
    """Which part of a launch can't be read, and why; "" if all of it is read."""
    first = next(iter(launch.unread), None)
    return "" if first is None else tr(NOT_READ, part=first.part, line=first.place.line, reason=first.reason)


class _Search:
    """Tries the launches of some kernels until a result is right."""

    def __init__(
        self,
        project: Project,
        path: Path,
        given: GivenLaunch,
        names: tuple[str, ...],
        progress: Callable[[str], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self.project, self.given, self.names, self.progress, self.cancelled = project, given, names, progress, cancelled
        own_name = project.own_name if project.others else ""
        self.source = KernelText(path.stem, str(path), project.texts[project.own_name], own_name, project.others)
        self.work = WorkBudget(_OF_FILE)
        self.remembered = Remembered()
        self.attempts: list[_Attempt] = []
        self.refusals: dict[str, SourceError] = {}  # by the kernel's name

    def kernel(self, kernels: list[KernelOutline], outline: FileOutline) -> KernelSpec:
        """The first kernel whose result is right, with its launch."""
        for kernel in kernels:
            by_columns: KernelSpec | None = None
            for attempt, most_runs in self._attempts_for(kernel, outline):
                spec = self._try(kernel.name, attempt, most_runs)
                if spec is not None and not (attempt.is_guess and spec.column_major):
                    return spec
                if spec is None and by_columns is not None:  # of two guesses that are right, rows are likelier
                    return by_columns
                by_columns = by_columns or spec
            if by_columns is not None:
                return by_columns
        spec = self._likeliest(kernels[0])
        if spec is None:
            raise self._failure(kernels[0])
        return spec

    def kernel_again(self, kernels: list[KernelOutline], outline: FileOutline, before: KernelSpec) -> KernelSpec:
        """The kernel as it was launched before, unless another launch gives a right result and this one doesn't."""
        source = self.source
        same = replace(before, text=source.text, own_name=source.own_name, project=source.project)
        named = [each for each in kernels if each.name == before.function]
        names = tuple(each.name for each in restated(named[0], launch_by_names(named[0], {}))[0].parameters) if named else ()
        if not named or before.parameter_names[: len(names)] != names:
            return self.kernel(kernels, outline)
        if is_right(same, self.work, self.cancelled):
            is_read = before.launch_from in ("unsure", "unchecked")
            return replace(same, launch_from="read", unconfirmed="") if is_read else same
        self.work = WorkBudget(_AGAIN)
        try:
            read = self.kernel(kernels, outline)
        except LaunchUnknown:
            return same
        return same if read.launch_from in ("unsure", "unchecked") else read

    def _attempts_for(self, kernel: KernelOutline, outline: FileOutline) -> Iterator[tuple[_Attempt, int | None]]:
        """Drafts of the kernel's launches, in this file or another one; of guesses if it is launched nowhere. With each the
        number of runs that it gets: where there are several, few at first.
        """
        is_given = bool(self.given.block and self.given.grid)
        launches = outline.launches_of(kernel.name) or launches_elsewhere(self.project, kernel, cancelled=self.cancelled)
        launches = tuple(without_open_extents(each) for each in launches)
        read = [launch for launch in launches if launch.is_read]
        attempts: list[_Attempt] = []
        for launch in read:
            draft = draft_of(kernel, completed(launch, kernel, {}))
            legal = with_legal_block(draft)
            is_legal = legal is draft or bool(self.given.block)
            attempts.append(_Attempt(legal, self.given, not is_legal, _unread(launch) if is_legal else tr(ILLEGAL)))
            wider = draft_of(kernel, completed(launch, kernel, {}), takes_all=True)
            if wider != draft and is_legal:
                attempts.append(_Attempt(wider, self.given, doubt=_unread(launch)))
        for most_runs in (_RUNS_AT_FIRST, None)[len(attempts) < 2 :]:
            yield from ((each, most_runs) for each in attempts)
        if read:
            return
        doubt = _unread(launches[0]) if launches else tr(GUESSED, entry=kernel.name)
        for tiles in tilings(kernel):
            draft = draft_of(kernel, completed(launches[0], kernel, tiles) if launches else launch_by_names(kernel, tiles))
            if "<" in self.given.entry:
                draft = replace(draft, entry=self.given.entry)
            kinds = kinds_of(draft)[:1]
            if is_given or not kinds:
                yield _Attempt(draft, self.given, not is_given, "" if is_given else doubt), _RUNS_OF_A_GUESS
                return
            sizes = tuple(size.name for size in kinds[0].sizes if not size.is_optional)
            for guess in guesses(self.source.text, tiles, sizes):
                block, grid = self.given.block or (() if draft.block else guess.block), self.given.grid or guess.grid
                yield _Attempt(draft, replace(self.given, block=block, grid=grid), True, doubt), _RUNS_OF_A_GUESS

    def _try(self, kernel: str, attempt: _Attempt, most_runs: int | None) -> KernelSpec | None:
        """The spec if the result is right with some roles."""
        if attempt not in self.attempts:
            self.attempts.append(attempt)
        if self.work.is_over or kernel in self.refusals:
            return None
        self.progress(tr("Trying which argument of {entry} is which", entry=attempt.draft.entry))
        likely = self.remembered.roles(self.source, attempt.draft)
        try:
            found = find_roles(
                self.source, attempt.draft, given=attempt.given, likely=likely, work=self.work,
                most_runs=most_runs, cancelled=self.cancelled,
            )  # fmt: skip
        except SourceError as error:
            self.refusals[kernel] = error
            return None
        if found is None:
            return None
        self.remembered.add(self.source, attempt.draft, found.roles)
        origin: LaunchOrigin = "given" if self.given.describes else "guessed" if attempt.is_guess else "read"
        return replace(found.spec, launch_from=origin, unconfirmed=attempt.doubt if attempt.is_guess else "")

    def _likeliest(self, kernel: KernelOutline) -> KernelSpec | None:
        """The kernel with the likeliest roles, if its launch is known: a kernel may be wrong."""
        attempt = next((each for each in self.attempts if not each.is_guess), None)
        if attempt is None or kernel.name in self.refusals:
            return None
        doubt = attempt.doubt
        try:
            likely = likeliest(self.source, attempt.draft, attempt.given, WorkBudget(_AGAIN))
            spec, roles_doubt = likely or (None, "")
            if spec is None or not (_is_plain(spec, attempt.draft) or attempt.given.kind):  # what only a name says may be wrong
                other = unchecked(self.source, attempt.draft, attempt.given)
                spec, roles_doubt = (spec, roles_doubt) if other is None else (other, "")
        except SourceError as error:
            self.refusals[kernel.name] = error
            return None
        if spec is None:
            return None
        read: LaunchOrigin = "unsure" if spec.problem.kind.is_checked else "unchecked"
        return replace(spec, launch_from="given" if self.given.describes else read, unconfirmed=doubt or roles_doubt)

    def _check_readable(self) -> None:
        """Raises SourceError if the kernel can't be read, which matters more than that its launch is unknown."""
        if self.attempts:
            read_text_of(self.source, self.attempts[0].draft)

    def _failure(self, kernel: KernelOutline) -> SourceError | UsageError:
        if kernel.name in self.refusals:
            return self.refusals[kernel.name]
        self._check_readable()
        names = ", ".join(dict.fromkeys(attempt.draft.entry for attempt in self.attempts))
        if all(attempt.is_guess for attempt in self.attempts):
            message = tr("{names} is launched nowhere in the project, and no usual launch gives a right result", names=names)
        else:
            message = tr("what the arguments of {names} are can't be found by trying", names=names)
        return LaunchUnknown(message, form_of_draft(self.attempts[0].draft, self.source.file, self.names))
