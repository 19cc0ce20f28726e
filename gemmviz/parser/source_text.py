"""The text of one translation unit: the file that is compiled and the project files that it may include."""

from collections.abc import Mapping

from msgspec import Struct, field


class SourceText(Struct, frozen=True):
    """Texts of a project, by their names below the project's folder, with forward slashes.

    ``main`` is the file that is compiled; ``shown`` the file whose lines and columns a Place counts, usually the same.
    ``macros`` are defined before the first line, and take precedence over the file's own ``#define`` of the same name.
    """

    main: str
    files: Mapping[str, str]
    shown: str = ""
    macros: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text that a Place refers to."""
        return self.files[self.shown or self.main]
