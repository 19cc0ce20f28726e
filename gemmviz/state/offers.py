"""Notices that offer to run a kernel from an untrusted source."""

from collections.abc import Callable

from gemmviz.model.translation import tr
from gemmviz.state.notices import Notice, Offer


def gpu_offer(allow: Callable[[], object]) -> Notice:
    """Notice that an untrusted kernel runs in the interpreter, with an offer to run it on the GPU."""
    what = tr("Compiles this source and runs it unmodified on the GPU, repeatedly to time it")
    risk = tr("a faulty kernel can hang the GPU for a while, for other programs too")
    offer = Offer(
        tr("Run on the GPU"),
        tr("{what}. Caution: {risk}. This permission is remembered for exactly this source.", what=what, risk=risk),
        allow,
    )
    text = tr("This kernel doesn't ship with gemmviz: it runs in the interpreter, which accesses neither files nor the network")
    return Notice("elsewhere", text, warns=False, offer=offer)


def run_offer(run: Callable[[], object]) -> Notice:
    """Notice that a recorded run is displayed, with an offer to run its kernel."""
    tip = tr("Runs the kernel in this file, which adds thread variables and counts of the whole launch")
    return Notice(
        "elsewhere", tr("Shown as it was recorded: nothing was run"), warns=False, offer=Offer(tr("Run it here"), tip, run)
    )
