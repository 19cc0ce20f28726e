"""A problem: a kind, such as a multiplication of matrices, with its sizes and the shapes of its arrays."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from math import prod
from typing import Any

from gemmviz.model.messages import SettingError, closest, tr
from gemmviz.model.problem_kind import Control, ProblemArray, ProblemKind, Setting, Shape, Size
from gemmviz.model.problems import MULTIPLY, problem_kind

_LARGEST, _MOST_ELEMENTS, _MOST_ARRAYS, _MOST_DIMENSIONS = 2**31 - 1, 2**31, 16, 4
_PROBLEM_KEYS = ("kind", "arrays", "outputs")
_OTHER_SETTINGS = ("device", "blocks", "phases", "pattern", "seed", "old_outputs")  # names of other settings
Formulas = tuple[str, ...]


class Problem:
    """Sizes of a problem, in elements, as an immutable value: ``Problem(8, 8, 8)`` is a multiplication, and
    ``Problem(kind="transpose", rows=64, columns=48)`` a transposition. Sizes and factors that aren't given have the kind's
    defaults. They are attributes: ``problem.rows``.

    ``arrays``: shapes, as formulas over the sizes and a kernel's parameters, of arrays that the kind leaves open or that differ
    from the kind's; ``outputs``: the names of the outputs among the arrays of a problem of an open kind. Raises SettingError
    for unknown names, for a size below 1 and for arrays beyond 32 bits.
    """

    __slots__ = ("_key", "_numbers", "formulas", "kind", "outputs")
    _key: tuple[object, ...]
    _numbers: dict[str, float]
    kind: ProblemKind
    formulas: Mapping[str, Formulas]
    outputs: tuple[str, ...]

    def __init__(
        self,
        *sizes: int,
        kind: str = MULTIPLY,
        arrays: Mapping[str, Formulas] | None = None,
        outputs: tuple[str, ...] = (),
        **numbers: float,
    ) -> None:
        table = problem_kind(kind)
        numbers |= {size.name: number for size, number in zip(table.sizes, sizes, strict=False)}
        ordered = dict(_sizes_and_factors(table, numbers))
        formulas = {name: tuple(map(str, each)) for name, each in (arrays or {}).items()}
        values = {
            "kind": table, "formulas": formulas, "outputs": tuple(outputs), "_numbers": ordered,
            "_key": (kind, tuple(ordered.items()), tuple(formulas.items()), tuple(outputs)),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        for name, size in self.sizes.items():
            if not 1 <= size <= _LARGEST:
                message = (
                    tr("{name} = {size}: it must be at most {largest}", name=name, size=size, largest=_LARGEST)
                    if size > 1
                    else tr("{name} = {size}: it must be at least 1", name=name, size=size)
                )
                raise SettingError(message, names=(name,), nearest={name: min(max(size, 1), _LARGEST)})
        for name, shape in self.shapes.items():
            check_shape(self, name, shape)
        known = {array.name for array in self.kind.arrays}
        wrong = [name for name in self.formulas if known and name not in known] + [
            name for name in self.outputs if name not in self.formulas
        ]
        if wrong:
            raise SettingError(
                tr("a problem of kind {kind} has no array {wrong}", kind=self.kind.name, wrong=wrong[0]), names=("arrays",)
            )
        if len(self.formulas) > _MOST_ARRAYS or any(not 1 <= len(each) <= _MOST_DIMENSIONS for each in self.formulas.values()):
            message = tr(
                "at most {most_arrays} arrays of 1 to {most_dimensions} dimensions can be given",
                most_arrays=_MOST_ARRAYS,
                most_dimensions=_MOST_DIMENSIONS,
            )
            raise SettingError(message, names=("arrays",))

    # Sizes

    @property
    def numbers(self) -> Mapping[str, float]:
        """Sizes and factors, by name."""
        return dict(self._numbers)

    @property
    def sizes(self) -> dict[str, int]:
        factors = {factor.name for factor in self.kind.factors}
        return {name: int(number) for name, number in self._numbers.items() if name not in factors}

    @property
    def dimensions(self) -> str:
        """The sizes of a multiplication as text, those of square matrices once: "N = 8"."""
        names = "N" if self.M == self.N == self.K else "MNK"
        return ", ".join(f"{name} = {self.sizes[name]}" for name in names)

    @property
    def factors(self) -> dict[str, float]:
        """Given factors that are no sizes, such as alpha."""
        return {factor.name: self._numbers[factor.name] for factor in self.kind.factors if factor.name in self._numbers}

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The sizes and factors as settings, with paths from this problem."""
        sizes = {size.name: size for size in self.kind.sizes}
        settings = [_setting(name, sizes.get(name)) for name in self.sizes]
        given = (factor for factor in self.kind.factors if factor.name in self._numbers)
        return (*settings, *(Setting((factor.name,), float, factor.default, factor.control) for factor in given))

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name not in self._numbers:
            raise AttributeError(f"a problem has no size {name!r}")
        return self._numbers[name]  # type: ignore[return-value]

    def __replace__(self, /, **numbers: float) -> "Problem":
        """A copy with other sizes or factors. Raises SettingError as the constructor does, also for new names."""
        for name in numbers:
            if name not in self._numbers:
                remedy = closest(name, self._numbers) or tr("it has {numbers}", numbers=", ".join(self._numbers))
                raise SettingError(tr("this problem has no size {name}", name=name), names=(name,), remedy=remedy)
        merged = {**self._numbers, **numbers}
        return Problem(kind=self.kind.name, arrays=self.formulas, outputs=self.outputs, **merged)

    def at_side(self, side: int) -> "Problem":
        """A copy whose matrices have sides of this length, and whose vectors have as many elements as such a matrix."""
        dimensions = {size.name: size.dimension for size in self.kind.sizes}
        return self.__replace__(**{name: side**power for name in self.sizes if (power := dimensions.get(name, 0))})

    # Arrays

    @property
    def arrays(self) -> tuple[ProblemArray, ...]:
        """The arrays in order, those of an open kind with an empty shape."""
        if not self.kind.is_open:
            return self.kind.arrays
        return tuple(
            ProblemArray(name, "output" if name in self.outputs else "input", lambda sizes: ()) for name in self.formulas
        )

    def array(self, name: str) -> ProblemArray:
        return next(array for array in self.arrays if array.name == name)

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(array.name for array in self.arrays if array.is_output)

    @property
    def hues(self) -> dict[str, str]:
        """The colour of each array, by the name of the matrix of a multiplication that has it: inputs A and B, outputs C.
        Further arrays are numbered.
        """
        hues: dict[str, str] = {}
        for array in self.arrays:
            free = [hue for hue in ("C" if array.is_output else "AB") if hue not in hues.values()]
            hues[array.name] = free[0] if free else str(len(hues))
        return hues

    def holds_before(self, name: str) -> bool:
        """Whether an array holds values before the run: an input, or the C of a multiplication with beta."""
        role = self.array(name).role
        return role != "output" or bool(self.factors.get("beta"))

    @property
    def shapes(self) -> dict[str, Shape]:
        """Shapes of the arrays whose shapes depend on the sizes only, by name."""
        return {
            array.name: array.shape(self.sizes) for array in self.kind.arrays if array.name not in self.formulas
        }  # fmt: skip

    def shapes_by(self, evaluate: Callable[[str], int]) -> dict[str, Shape]:
        """Shapes of all arrays, by name. Raises SettingError for one that no array can have."""
        plain, shapes = self.shapes, dict[str, Shape]()
        for array in self.arrays:
            formulas = self.formulas.get(array.name)
            shapes[array.name] = plain[array.name] if formulas is None else tuple(map(evaluate, formulas))
            check_shape(self, array.name, shapes[array.name])
        return shapes

    # Words and values

    @property
    def is_multiply(self) -> bool:
        """Whether it is one multiplication of matrices, as most views and models of multiplications expect."""
        return self.kind.name == MULTIPLY and "batch" not in self._numbers

    @property
    def flops(self) -> int | None:
        """Floating-point operations, 2 M N K of a multiplication; None if there are none to count."""
        return self.kind.flops(self.sizes)

    @property
    def depth(self) -> int:
        """The longest loop of one thread in a plain kernel: K of a multiplication."""
        return self.kind.depth(self.sizes)

    def text(self, times: str = " × ") -> str:
        """The sizes, such as "8 × 8 × 8" or "rows = 64, columns = 48"."""
        if self.kind.name == MULTIPLY and len(self._numbers) == len(self.shapes):
            return times.join(str(size) for size in self.sizes.values())
        return ", ".join(f"{name} = {number:g}" if isinstance(number, float) else f"{name} = {number}" for name, number in self)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(self._numbers.items())

    def __str__(self) -> str:
        return self.text(" x ")

    def __repr__(self) -> str:
        return f"Problem({', '.join(f'{name}={value!r}' for name, value in self.to_flat().items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a problem can't be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem.of_flat, (self.to_flat(),)

    # Files

    def to_flat(self) -> dict[str, Any]:
        """One table, as a header has it: ``{"M": 8, "N": 8, "K": 8}``, with "kind" first unless it is a multiplication."""
        flat: dict[str, Any] = {} if self.kind.name == MULTIPLY else {"kind": self.kind.name}
        flat |= self._numbers
        flat |= {"arrays": {name: list(each) for name, each in self.formulas.items()}} if self.formulas else {}
        return flat | ({"outputs": list(self.outputs)} if self.outputs else {})

    @classmethod
    def of_flat(cls, flat: Any) -> "Problem":
        """The problem of such a table. Raises SettingError, a ValueError, for one that isn't."""
        if not isinstance(flat, Mapping) or not all(isinstance(name, str) for name in flat):
            raise SettingError(tr("a problem is a table such as { M = 8, N = 8, K = 8 }"))
        kind = flat.get("kind", MULTIPLY)
        arrays, outputs = flat.get("arrays", {}), flat.get("outputs", ())
        if not isinstance(kind, str) or not isinstance(arrays, Mapping) or not isinstance(outputs, list | tuple):
            raise SettingError(tr("the kind of a problem is a string, its arrays are a table, and its outputs a list"))
        formulas = {str(name): _shape_formulas(name, each) for name, each in arrays.items()}
        numbers = {name: number for name, number in flat.items() if name not in _PROBLEM_KEYS}
        if not formulas and not outputs:
            with suppress(TypeError):  # a value without a hash is refused below
                return _plain_problem(kind, tuple(numbers.items()), tuple(map(type, numbers.values())))
        return cls(kind=kind, arrays=formulas, outputs=tuple(map(str, outputs)), **numbers)


@lru_cache(maxsize=1024)
def _plain_problem(kind: str, numbers: tuple[tuple[str, float], ...], types: tuple[type, ...]) -> Problem:
    """A problem without arrays of its own: files of measurements name few, each many times. ``types`` tells 1 from 1.0."""
    named: dict[str, Any] = dict(numbers)
    return Problem(kind=kind, **named)


def check_shape(problem: Problem, name: str, shape: Shape) -> None:
    """Raises SettingError for an array without elements, or with more than a 32-bit index can name."""
    if any(extent < 1 for extent in shape) or prod(shape) >= _MOST_ELEMENTS:
        extents = " x ".join(map(str, shape))
        why = tr("more than a 32-bit index can name") if prod(shape) >= _MOST_ELEMENTS else tr("no array has fewer than one")
        raise SettingError(
            tr("{name} would have {extents} elements: {why}", name=name, extents=extents, why=why), names=tuple(problem.sizes),
            remedy=tr("choose smaller {sizes}", sizes=', '.join(problem.sizes)) if prod(shape) >= _MOST_ELEMENTS else None,
        )  # fmt: skip


def _shape_formulas(name: object, each: object) -> Formulas:
    parts = each if isinstance(each, list | tuple) else (each,)
    if not all(isinstance(part, str | int) and not isinstance(part, bool) for part in parts):
        raise SettingError(tr("the shape of {name} must be formulas", name=name), names=("arrays",))
    return tuple(str(part) for part in parts)


def _setting(name: str, size: Size | None) -> Setting:
    """The setting of a size; of a size that an open kind names, ``size`` is None."""
    control = Control(name, tr("A size of the problem"), least=1) if size is None else size.control
    return Setting((name,), int, 1 if size is None else size.default, control)


def _sizes_and_factors(kind: ProblemKind, numbers: Mapping[str, object]) -> Iterator[tuple[str, int | float]]:
    """Names and values of the sizes and factors, in the kind's order. Raises SettingError for unknown names and wrong types."""
    sizes, factors = {size.name: size for size in kind.sizes}, [factor.name for factor in kind.factors]
    for name, number in numbers.items():
        known = (*sizes, *factors)
        if name not in known and not kind.is_open:
            remedy = closest(name, known) or tr("it has {known}", known=", ".join(known))
            raise SettingError(
                tr("a problem of kind {kind} has no size {name}", kind=kind.name, name=f"{name!r}"),
                names=(name,),
                remedy=remedy,
            )
        if name in _OTHER_SETTINGS:
            raise SettingError(
                tr("a size of a problem can't be named {name}", name=name), names=(name,), remedy=tr("choose another name")
            )
        if isinstance(number, bool) or not isinstance(number, int | float if name in factors else int):
            what = tr("a number") if name in factors else tr("a whole number")
            raise SettingError(
                tr("{name}: expected {what}, not {number}", name=name, what=what, number=f"{number!r}"), names=(name,)
            )
    for name, size in sizes.items():
        if name in numbers or not size.is_optional:
            yield name, numbers.get(name, size.default)  # type: ignore[misc]
    for name in numbers:
        if name in factors:
            yield name, float(numbers[name])  # type: ignore[arg-type]
        elif name not in sizes:
            yield name, numbers[name]  # type: ignore[misc]
