"""What a person may have done with a kernel from elsewhere, and is not done unasked."""

from collections.abc import Callable

from gemmviz.state.notices import Notice, Offer


def kept_from_gpu(let: Callable[[], object]) -> Notice:
    """The kernel ran in the interpreter although there is a GPU."""
    what = "The GPU's driver compiles this text and runs it as it stands, as often as it takes to time it"
    risk = "a bad kernel can make the GPU hang for a while, also for other programs"
    offer = Offer("Run on the GPU", f"{what}: {risk}. Remembered for this very text.", let)
    text = "This kernel doesn't ship with gemmviz: it runs in the interpreter, which touches no file and no network"
    return Notice("elsewhere", text, warns=False, offer=offer)


def as_recorded(run: Callable[[], object]) -> Notice:
    """A trace from a file is shown, and its source is not run."""
    tip = "Runs the kernel that the file holds: that gives the variables of threads too, and counts of the whole launch"
    return Notice("elsewhere", "Shown as it was recorded: nothing was run", warns=False, offer=Offer("Run it here", tip, run))
