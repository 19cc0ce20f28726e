"""How one picture follows another in a lecture: as the next beat of a run, as a morph, or as a cross-fade."""

from gemmviz.state.shot import Shot

_OF_ONE_KERNEL = ("stage",)  # views in which things of two kernels have nothing in common


def is_next_beat(one: Shot, other: Shot) -> bool:
    """Whether the second shot is the step after the first of the same run, seen in the same way."""
    return (one.setup, one.view, one.focus, one.against) == (other.setup, other.view, other.focus, other.against) and (
        other.at.step == one.at.step + 1
    )


def is_morph(one: Shot, other: Shot) -> bool:
    """Whether things in both pictures are the same and may move: those of one view, and on the stage of one kernel."""
    is_same_kernel = one.setup.kernel.name == other.setup.kernel.name
    return one.view == other.view and (is_same_kernel or one.view not in _OF_ONE_KERNEL)
