"""Errors while a kernel is lowered: the parser's, within the lines that are read, and the reader's own, with their way out."""

from gemmviz.cuda.parser.unit import ParseError, Unit

_WAYS_OUT = (
    ("goto", "write it as a loop, an if or a return"),
    ("new is", "use an array of the thread or of shared memory"),
    ("malloc", "use an array of the thread or of shared memory"),
    ("throw", "use return"),
    ("recursion", "write it as a loop"),
    ("known before the kernel runs", "make it constexpr, or pass it as a parameter"),
    ("before it is assigned", "assign it first, on every path"),
    ("pointer in memory", "keep an index in memory, and add it to the pointer"),
    ("references", "return a value, or an index"),
    ("nested too deeply", "split it into several statements"),
    ("at most", "make it smaller"),
    ("more than", "make it smaller"),
    ("more elements", "make it smaller"),
    ("no body", "include the file that defines it"),
    ("division by zero", "divide by another number"),
    ("member", "use a member that it has"),
    ("the first case", "move it in front of the switch"),
    ("can't become", "convert it, or change the type of the variable"),
    ("does not work on", "convert the operands to numbers"),
    ("can't be used", "use one of its members or elements"),
    ("the type", "use a number type of CUDA, or a struct of numbers"),
    ("takes", "pass what its declaration asks for"),
    ("values for", "write as many values as it has elements"),
    ("PTX", "write it as CUDA C, or with an intrinsic function"),
    ("asm", "write it as CUDA C, or with an intrinsic function"),
    ("", "write it in a simpler way"),
)  # words of messages, the first that fits


def way_out(message: str) -> str:
    """What to do about something that can't be read."""
    return next(remedy for words, remedy in _WAYS_OUT if words in message)


def first_error(unit: Unit, file: str, first: int, last: int) -> ParseError | None:
    """The first error in these lines of a file of the project."""
    return next(
        (each for each in unit.errors if any(_within(spot.line, first, last) for spot in each.spots if spot.file == file)), None
    )


def _within(line: int, first: int, last: int) -> bool:
    return first <= line <= last


class MixedSpaces(Exception):
    """A pointer variable, by the key of its declaration, that is assigned pointers into memories of several spaces."""

    def __init__(self, key: int) -> None:
        super().__init__(key)
        self.key = key
