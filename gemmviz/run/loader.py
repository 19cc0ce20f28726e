"""Loads a kernel: by its name, from a file with a header, or from a plain file whose launch is read and tried."""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field, structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.draft import Draft, draft_of, restated
from gemmviz.cuda.launch.formula import evaluate, names_in, renamed
from gemmviz.cuda.launch.guessed_launch import KernelText, completed, guesses, launch_by_names, tilings, without_open_extents
from gemmviz.cuda.launch.launch_form import GUESSED, ILLEGAL, NOT_READ, GivenLaunch, LaunchForm, form_of_draft
from gemmviz.cuda.launch.roles import Roles
from gemmviz.files.codec import FormatError, from_json, read_text, to_json
from gemmviz.files.kernel_file import has_header, parse_kernel
from gemmviz.files.resources import atomic_write, cache_folder, is_file, names_kernel_file, split_name
from gemmviz.model.kernel import KernelSpec, LaunchOrigin, text_hash
from gemmviz.model.messages import GemmvizError, SourceError, UsageError, closest, marked, tr
from gemmviz.model.outline import KernelOutline, LaunchOutline
from gemmviz.model.problems import IN_PARTS, PROBLEM_KINDS
from gemmviz.run.project import Project, launches_elsewhere, outline_of, project_of
from gemmviz.run.trial import WorkBudget, is_right
from gemmviz.run.trying import find_roles, kinds_of, likeliest, program_of, unchecked

NOTHING_GIVEN = GivenLaunch()
_Telling = Callable[[str], None]


class Opened(Struct, frozen=True):
    """A kernel, and the names of all kernels of its file, of a shipped one none."""

    kernel: KernelSpec
    names: tuple[str, ...] = ()


def is_kernel_file(name: str) -> bool:
    """Whether a name means a file, not a shipped kernel."""
    return names_kernel_file(name) or is_file(Path(name))


def open_kernel(name: str, given: GivenLaunch = NOTHING_GIVEN) -> KernelSpec:
    """The kernel of ``opened``."""
    return opened(name, given).kernel


def opened(
    name: str,
    given: GivenLaunch = NOTHING_GIVEN,
    *,
    before: KernelSpec | None = None,
    remembers: bool = False,
    progress: _Telling = lambda sentence: None,
) -> Opened:
    """The shipped kernel of this name ("04_tiled", or "tiled" for short), or the kernel in this file of CUDA C++: the one that
    ``FILE:KERNEL`` names.

    A header in the file describes the launch; without one the launch is read from the host code, and the roles of its arguments
    are found by running it. ``given`` parts take precedence over both. ``before``: what the file held when it was read last;
    its launch is tried first, and kept if no other one gives a right result. ``remembers``: a launch that is given is used
    again whenever this text is opened without one. Raises UsageError for an unknown name,
    LaunchUnknown for a launch that can't be found, SourceError for a kernel that can't be read, and Cancelled.
    """
    if not is_kernel_file(name):
        return Opened(given.applied(load_kernel(name)))
    file, entry = split_name(name)
    path, given = Path(file), structs.replace(given, entry=given.entry or entry)
    project = project_of(path)
    text = project.texts[project.own_name]
    if not has_header(text):
        remembered = Remembered() if remembers else None
        if remembered is not None and not given:
            given = remembered.launch(text)
        try:
            search = LaunchSearch(project, path, given, progress=progress)
            is_known = before is not None and not given and before.launch_from != "given"
            kernel = search.kernel_again(before) if before is not None and is_known else search.kernel()
        except SourceError as error:
            error.in_file(str(path))
            raise
        if remembered is not None and given.describes:
            remembered.add_launch(text, given)
        return Opened(kernel, search.names)
    spec = parse_kernel(text, str(path))
    if project.others:
        spec = structs.replace(spec, own_name=project.own_name, project=project.others)
    return Opened(given.applied(spec), (spec.entry,))


# A draft whose block has more threads than any GPU allows, with the nearest block that is allowed.

_MOST_THREADS = 1024


def with_legal_block(draft: Draft) -> Draft:
    """The draft itself if its block is allowed or isn't known; else its tile sizes, or the numbers in its block and grid that
    are extents of the block, are halved until it is, the largest first.
    """
    tiles, numbers = draft.tile_values, {each: int(each) for each in names_in(draft.block) if each.isdecimal()}
    if _threads_of(draft, tiles, numbers) <= _MOST_THREADS:
        return draft
    while _threads_of(draft, tiles, numbers) > _MOST_THREADS:
        used = tiles if any(tiles.get(each, 0) > 1 for each in names_in(draft.block)) else numbers
        largest = max((each for each in names_in(draft.block) if each in used), key=lambda each: used[each], default="")
        if not largest or used[largest] < 2:
            return draft
        used[largest] //= 2
    texts = {name: str(value) for name, value in numbers.items()}
    texts |= {str(int(name) - 1): str(value - 1) for name, value in numbers.items() if int(name) > 2}  # (N + 31) / 32
    return structs.replace(
        draft,
        block=tuple(renamed(each, texts) for each in draft.block),
        grid=tuple(renamed(each, texts) for each in draft.grid),
        tiles=tuple(structs.replace(each, default=tiles[each.name]) for each in draft.tiles),
    )


def _threads_of(draft: Draft, tiles: dict[str, int], numbers: dict[str, int]) -> int:
    """The threads of a block with these tile sizes and numbers; 0 if they depend on more."""
    texts = {name: str(value) for name, value in numbers.items()}
    try:
        return math.prod(evaluate(renamed(each, texts), tiles) for each in draft.block)
    except GemmvizError:
        return 0


# What was found before, by the kernel's text: the roles to try first, and the launch that the user described.

_Found = TypeVar("_Found")

_MOST_REMEMBERED = 500
_MEMORY_VERSION = 2


class _FileContents(Struct, frozen=True):
    """The file: roles by the hash of a text and a launch, and launches by the hash of a text, latest last."""

    version: int = _MEMORY_VERSION
    roles: dict[str, Roles] = field(default_factory=dict)
    launches: dict[str, GivenLaunch] = field(default_factory=dict)


class Remembered:
    """A file in the user's cache. Roles save time only: they are tried again before they are used. A file that can't be read or
    written counts as empty.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "roles.json"

    def roles(self, source: KernelText, draft: Draft) -> Roles | None:
        """The roles of a draft in a text; None if they aren't known."""
        return self._contents().roles.get(_remembered_key(source, draft))

    def add(self, source: KernelText, draft: Draft, roles: Roles) -> None:
        contents, key = self._contents(), _remembered_key(source, draft)
        if contents.roles.get(key) != roles:
            self._write(structs.replace(contents, roles=_with_latest(contents.roles, key, roles)))

    def launch(self, text: str) -> GivenLaunch:
        """The launch that was described for a text; an empty one if none was."""
        return self._contents().launches.get(text_hash(text), GivenLaunch())

    def add_launch(self, text: str, launch: GivenLaunch) -> None:
        contents, key = self._contents(), text_hash(text)
        if contents.launches.get(key) != launch:
            self._write(structs.replace(contents, launches=_with_latest(contents.launches, key, launch)))

    def _write(self, contents: _FileContents) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.path) as part:
                part.write_bytes(to_json(contents))
        except (GemmvizError, OSError):
            return

    def _contents(self) -> _FileContents:
        try:
            contents = from_json(read_text(self.path), _FileContents)
        except (FormatError, GemmvizError):
            return _FileContents()
        return contents if contents.version == _MEMORY_VERSION else _FileContents()


def _with_latest(known: dict[str, _Found], key: str, value: _Found) -> dict[str, _Found]:
    latest = {**{each: value for each, value in known.items() if each != key}, key: value}
    return dict(list(latest.items())[-_MOST_REMEMBERED:])


def _remembered_key(source: KernelText, draft: Draft) -> str:
    texts = "\0".join((source.text, *(f"{each.name}\0{each.text}" for each in source.project)))
    return hashlib.sha256(f"{texts}\0{draft}".encode()).hexdigest()


# A file without a header: which of its kernels is shown, how it is launched, and what its arguments are.

_OF_FILE, _AGAIN = 100 << 20, 30 << 20  # units of work
_RUNS_OF_A_GUESS, _RUNS_AT_FIRST = 12, 32  # with the likeliest roles, before the next launch is tried
_DESCRIBE_IT = marked("describe it with --entry, --args, --block, --grid and --shared")


class LaunchUnknown(UsageError):
    """A kernel can be read, but not how it is launched or what its arguments are. ``form``: asks for what is missing."""

    def __init__(self, message: str, form: LaunchForm) -> None:
        super().__init__(message, file=form.file, remedy=tr(_DESCRIBE_IT))
        self.form = form


class _Attempt(Struct, frozen=True):
    """A draft to find roles for, with the parts of its launch that are given or guessed. ``doubt``: what is uncertain about the
    launch; of a guess, whatever its result, else only if its result isn't right.
    """

    draft: Draft
    given: GivenLaunch
    is_guess: bool = False
    doubt: str = ""


def _is_plain(spec: KernelSpec, draft: Draft) -> bool:
    """Whether a spec multiplies, and has a pointer for each matrix."""
    return spec.problem.is_multiply and len(draft.pointers) == len(spec.problem.arrays)


def _unread(launch: LaunchOutline) -> str:
    """Which part of a launch can't be read, and why; "" if all of it is read."""
    first = next(iter(launch.unread), None)
    return "" if first is None else tr(NOT_READ, part=first.part, line=first.place.line, reason=first.reason)


class LaunchSearch:
    """Tries the launches of the kernels of a file without a header until a result is right. ``given``: parts of the launch;
    ``names``: those of the file's kernels; ``kernels``: those that are tried.

    ``as_written``: for a judge, who runs the kernel at other sizes. One kernel is chosen before any is run, with the roles that
    the names tell; its first launch counts, whatever its block is, and the given block is for a kernel without one.
    ``accepts``: says of a guess whose result is right whether no other one needs to be tried.

    Raises SourceError for a file without a kernel or beyond the parser's limits, UsageError for a kernel that isn't there,
    and Cancelled.
    """

    def __init__(
        self,
        project: Project,
        path: Path,
        given: GivenLaunch,
        *,
        progress: _Telling = lambda sentence: None,
        as_written: bool = False,
        accepts: Callable[[KernelSpec], bool] = lambda spec: True,
    ) -> None:
        self.project, self.given, self.progress = project, given, progress
        self.as_written, self.accepts = as_written, accepts
        own_name = project.own_name if project.others else ""
        self.source = KernelText(path.stem, str(path), project.texts[project.own_name], own_name, project.others)
        self.outline = outline_of(project)
        every = self.outline.kernels
        own = [each for each in every if each.file == project.own_name and not as_written] or list(every)
        if not own:
            remedy = tr("a kernel is a function that begins with __global__ void")
            raise SourceError(tr("the file has no kernel"), file=str(path), remedy=remedy)
        self.names = tuple(each.name for each in own)
        self.kernels = self._chosen(own)
        self.work = WorkBudget(_OF_FILE)
        self.remembered = None if as_written else Remembered()
        self.attempts: list[_Attempt] = []
        self.refusals: dict[str, SourceError] = {}  # by the kernel's name
        self._launches: dict[KernelOutline, tuple[LaunchOutline, ...]] = {}

    def _chosen(self, kernels: list[KernelOutline]) -> list[KernelOutline]:
        """The kernel that is asked for by name, whose namespaces may be omitted; else all, launched ones first, in the order of
        their launches. Raises UsageError for a name that none has.
        """
        function = self.given.entry.split("<")[0].strip().removeprefix("::")
        named = [each for each in kernels if f"::{each.name}".endswith(f"::{function}")]
        if function and named:
            return named[:1] if self.as_written else named
        if function and not (self.as_written and len(kernels) == 1):
            remedy = closest(function, self.names) or tr("its kernels are {names}", names=", ".join(self.names))
            raise UsageError(tr("the file has no kernel {function}", function=function), file=self.source.file, remedy=remedy)
        launched = [launch.kernel for launch in self.outline.launches]
        arrays = len(PROBLEM_KINDS[self.given.kind].arrays) if self.given.kind else 0

        def rank(kernel: KernelOutline) -> tuple[bool, int]:
            fits = not arrays or sum(each.is_pointer for each in kernel.parameters) == arrays
            return not fits, launched.index(kernel.name) if kernel.name in launched else len(launched)

        return sorted(kernels, key=rank)[: 1 if self.as_written else None]

    def kernel(self) -> KernelSpec:
        """The first kernel whose result is right, with its launch. Raises LaunchUnknown, SourceError and Cancelled."""
        found = (self._right_one(each.name, self._attempts_for(each)) for each in self.kernels)
        spec = next(filter(None, found), None) or self._wrong_one(self.kernels[0])
        if spec is None:
            raise self._failure(self.kernels[0])
        return spec

    def relaunched(self, draft: Draft, grids: Iterable[tuple[str, ...]], doubt: str) -> KernelSpec | None:
        """The kernel of a draft with the first of these grids with which its result is right; else, with a ``doubt``, with the
        first usual one.
        """
        self.work, self.attempts = WorkBudget(_OF_FILE), []
        first = ((_Attempt(draft, structs.replace(self.given, grid=each), True), _RUNS_OF_A_GUESS) for each in grids)
        return self._right_one(self.kernels[0].name, chain(first, self._guesses(draft, draft.tile_values, doubt)))

    def _right_one(self, kernel: str, attempts: Iterable[tuple[_Attempt, int | None]]) -> KernelSpec | None:
        """The kernel of the first attempt whose result is right; rather of a later one than of a guess that isn't accepted."""
        second: KernelSpec | None = None
        for attempt, most_runs in attempts:
            spec = self._try(kernel, attempt, most_runs)
            by_columns = self.given.column_major is None and spec is not None and bool(spec.column_major)
            if spec is not None and not (attempt.is_guess and (by_columns or not self.accepts(spec))):
                return spec
            if spec is None and second is not None and second.column_major:  # of two right guesses, rows are likelier
                return second
            second = second or spec
        return second

    def kernel_again(self, before: KernelSpec) -> KernelSpec:
        """The kernel as it was launched before, unless the host code launches it differently now, or another launch gives a
        right result and this one doesn't.
        """
        source = self.source
        same = structs.replace(before, text=source.text, own_name=source.own_name, project=source.project)
        named = [each for each in self.kernels if each.name == before.function]
        names = tuple(each.name for each in restated(named[0], launch_by_names(named[0], {}))[0].parameters) if named else ()
        if not named or before.parameter_names[: len(names)] != names or not self._is_launched_as(before):
            return self.kernel()
        if is_right(same, self.work):
            is_read = before.launch_from in ("unsure", "unchecked")
            return structs.replace(same, launch_from="read", unconfirmed="") if is_read else same
        self.work = WorkBudget(_AGAIN)
        try:
            read = self.kernel()
        except LaunchUnknown:
            return same
        return same if read.launch_from in ("unsure", "unchecked") else read

    def _is_launched_as(self, before: KernelSpec) -> bool:
        """Whether the host code launches the kernel as it did before, perhaps in another line."""
        texts = {before.own_name or self.project.own_name: before.text, **{each.name: each.text for each in before.project}}
        launched, now = (
            [
                (each.template_arguments, each.arguments, each.grid, each.block, each.shared_bytes, each.names)
                for each in outline.launches_of(before.function)
            ]
            for outline in (outline_of(structs.replace(self.project, texts=texts)), self.outline)
        )
        return launched == now

    def launches_of(self, kernel: KernelOutline) -> tuple[LaunchOutline, ...]:
        """The launches of a kernel in this file, or else in another one; of one that is overloaded, those with as many
        arguments as it has parameters.
        """
        if kernel not in self._launches:
            launches = self.outline.launches_of(kernel.name)
            if self.names.count(kernel.name) > 1:
                launches = tuple(each for each in launches if len(each.arguments) == len(kernel.parameters))
            self._launches[kernel] = launches or launches_elsewhere(self.project, kernel)
        return self._launches[kernel]

    def _attempts_for(self, kernel: KernelOutline) -> Iterator[tuple[_Attempt, int | None]]:
        """Drafts of the kernel's launches, in this file or another one; of guesses if it is launched nowhere. With each the
        number of runs that it gets: where there are several, few at first.
        """
        is_given = bool(self.given.block and self.given.grid)
        launches = tuple(without_open_extents(each) for each in self.launches_of(kernel))
        read = [launch for launch in launches if launch.is_read]
        given = structs.replace(self.given, block=(), grid=(), shared_bytes="") if self.as_written else self.given
        attempts: list[_Attempt] = []
        for launch in read[: 1 if self.as_written else None]:
            whole = completed(launch, kernel, {})
            draft = draft_of(kernel, whole)
            legal = draft if self.as_written else with_legal_block(draft)
            is_legal = legal is draft or bool(given.block)
            attempts.append(_Attempt(legal, given, not is_legal, _unread(launch) if is_legal else tr(ILLEGAL)))
            others = draft_of(kernel, whole, takes_all=True), draft_of(kernel, whole, names_all=True)
            attempts += [_Attempt(each, given, doubt=_unread(launch)) for each in others if each != draft and is_legal]
        for most_runs in (_RUNS_AT_FIRST, None)[len(attempts) < 2 :]:
            yield from ((each, most_runs) for each in attempts)
        if read:
            return
        doubt = _unread(launches[0]) if launches else tr(GUESSED, entry=kernel.name)
        for tiles in tilings(kernel):
            draft = draft_of(kernel, completed(launches[0], kernel, tiles) if launches else launch_by_names(kernel, tiles))
            if "<" in self.given.entry:
                draft = structs.replace(draft, entry=self.given.entry)
            if is_given or not kinds_of(draft):
                yield _Attempt(draft, self.given, not is_given, "" if is_given else doubt), _RUNS_OF_A_GUESS
                return
            yield from self._guesses(draft, tiles, doubt)

    def _guesses(self, draft: Draft, tiles: Mapping[str, int], doubt: str) -> Iterator[tuple[_Attempt, int | None]]:
        """Attempts with usual launches; with the block of the draft if it has one."""
        kind = PROBLEM_KINDS[self.given.kind] if self.as_written else kinds_of(draft)[0]
        sizes = tuple(size.name for size in kind.sizes if not size.is_optional)
        for guess in guesses(self.source.text, tiles, sizes):
            block, grid = self.given.block or (() if draft.block else guess.block), self.given.grid or guess.grid
            yield _Attempt(draft, structs.replace(self.given, block=block, grid=grid), True, doubt), _RUNS_OF_A_GUESS

    def _try(self, kernel: str, attempt: _Attempt, most_runs: int | None) -> KernelSpec | None:
        """The spec if the result is right with some roles."""
        if attempt not in self.attempts:
            self.attempts.append(attempt)
        if self.work.is_over or kernel in self.refusals:
            return None
        is_told = self.given.is_complete and self.given.kind not in IN_PARTS
        if self.as_written and is_told and not attempt.is_guess:
            return None  # there is nothing to find
        self.progress(tr("Trying which argument of {entry} is which", entry=attempt.draft.entry))
        likely = None if self.remembered is None else self.remembered.roles(self.source, attempt.draft)
        try:
            found = find_roles(
                self.source, attempt.draft, given=attempt.given, likely=likely, work=self.work,
                most_runs=most_runs, as_written=self.as_written,
            )  # fmt: skip
        except SourceError as error:
            self.refusals[kernel] = error
            return None
        if found is None:
            return None
        if self.remembered is not None:
            self.remembered.add(self.source, attempt.draft, found.roles)
        origin: LaunchOrigin = "given" if self.given.describes else "guessed" if attempt.is_guess else "read"
        return structs.replace(found.spec, launch_from=origin, unconfirmed=attempt.doubt if attempt.is_guess else "")

    def likeliest(self, kernel: KernelOutline) -> KernelSpec | None:
        """The kernel with the likeliest roles in its first attempt, whether its launch is known or a guess."""
        return self._likeliest(kernel, self.attempts[0]) if self.attempts else None

    def _wrong_one(self, kernel: KernelOutline) -> KernelSpec | None:
        """The kernel with the likeliest roles, if its launch is known: a kernel may be wrong."""
        attempt = next((each for each in self.attempts if not each.is_guess), None)
        return None if attempt is None else self._likeliest(kernel, attempt)

    def _likeliest(self, kernel: KernelOutline, attempt: _Attempt) -> KernelSpec | None:
        if kernel.name in self.refusals and not self.as_written:
            return None
        doubt = attempt.doubt
        try:
            likely = likeliest(self.source, attempt.draft, attempt.given, WorkBudget(_AGAIN), self.as_written)
            spec, roles_doubt = likely or (None, "")
            is_meant = spec is not None and (_is_plain(spec, attempt.draft) or bool(attempt.given.kind))
            if not is_meant and not self.as_written:  # what only a name says may be wrong
                other = unchecked(self.source, attempt.draft, attempt.given)
                spec, roles_doubt = (spec, roles_doubt) if other is None else (other, "")
        except SourceError as error:
            self.refusals[kernel.name] = error
            return None
        if spec is None:
            return None
        read: LaunchOrigin = "unsure" if spec.problem.kind.is_checked else "unchecked"
        return structs.replace(spec, launch_from="given" if self.given.describes else read, unconfirmed=doubt or roles_doubt)

    def _failure(self, kernel: KernelOutline) -> SourceError | UsageError:
        if kernel.name in self.refusals:
            return self.refusals[kernel.name]
        program_of(self.source, self.attempts[0].draft)  # that it can't be read matters more
        names = ", ".join(dict.fromkeys(attempt.draft.entry for attempt in self.attempts))
        if all(attempt.is_guess for attempt in self.attempts):
            message = tr("{names} is launched nowhere in the project, and no usual launch gives a right result", names=names)
        else:
            message = tr("what the arguments of {names} are can't be found by trying", names=names)
        return LaunchUnknown(message, form_of_draft(self.attempts[0].draft, self.source.file, self.names))
