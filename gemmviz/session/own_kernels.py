"""Files of kernels in the user's own folder: copies of shipped kernels, and texts that were pasted."""

from pathlib import Path

from gemmviz.files.kernel_file import has_header, kernel_text
from gemmviz.files.kinds import file_stem
from gemmviz.files.resources import user_folder
from gemmviz.files.whole import write_text
from gemmviz.launch.launch_line import with_header
from gemmviz.model.errors import GemmvizError, UsageError
from gemmviz.model.kernel import KernelSpec, check_text
from gemmviz.model.translation import tr

_FOLDER = "kernels"
_KERNEL = "__global__"


def copy_of(kernel: KernelSpec) -> Path:
    """A new file with the text of a kernel. Raises GemmvizError if it can't be written."""
    return _new_file(file_stem(kernel.name), kernel.text)


def pasted(text: str) -> Path:
    """A new file with this text. Raises UsageError for a text without a kernel, GemmvizError if the file can't be written."""
    if _KERNEL not in text:
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
    folder = user_folder(_FOLDER)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GemmvizError(tr("the folder can't be made: {strerror}", strerror=error.strerror), file=str(folder)) from None
    names = (f"{stem}.cu", *(f"{stem}-{number}.cu" for number in range(2, 1000)))
    path = next((folder / name for name in names if not (folder / name).exists()), folder / names[-1])
    write_text(path, text)
    return path
