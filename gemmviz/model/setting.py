"""How a person sets one field of a dataclass: what a form, a flag and a message say of it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Control:
    """What ``Annotated[int, Control(...)]`` says of a field: ``label`` stands before it, ``help`` in its tooltip and in the
    command line's help; ``flag`` is its option there, "" for none.

    ``choices``: what may be chosen, each with the words that it is shown by; None where that is open, or known elsewhere.
    ``least`` and ``most`` bound a number, ``unit`` follows it. ``empty``: what an empty text means. ``needs``: the name and the
    value of another field without which this one means nothing, and ``unless`` says so. ``of_record``: it says what of a run is
    recorded, and nothing of the run.
    """

    label: str
    help: str
    flag: str = ""
    choices: Mapping[str, str] | None = None
    least: float = 0
    most: float = 2**31 - 1
    unit: str = ""
    empty: str = ""
    needs: tuple[str, str] | None = None
    unless: str = ""
    of_record: bool = False

    @property
    def is_symbol(self) -> bool:
        """Whether the label is a letter of a formula, as M is."""
        return len(self.label) == 1
