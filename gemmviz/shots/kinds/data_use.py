"""How a shot's kernel uses its data, counted over the whole launch."""

from gemmviz.analysis.declarations import declarations
from gemmviz.cuda.launch.legality import device_for
from gemmviz.model.cases import ArrayUse, DataUse
from gemmviz.model.setup import launch_title
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_data_use(shot: Shot, context: Context) -> DataUse:
    """The use of data. Raises GemmvizError for a launch that can't be counted."""
    setup = shot.setup
    counts = context.known.counts
    arrays = tuple(
        ArrayUse(
            each.name, each.space, counts.elements(each.space, "read", each.name),
            counts.elements(each.space, "write", each.name), each.size * each.itemsize,
        )
        for each in counts.arrays
    )  # fmt: skip
    own = tuple(each.name for each in declarations(setup.kernel.text) if each.space == "register")
    return DataUse(launch_title(setup), device_for(setup), arrays, own)


SUBJECT = Subject(DataUse, _make_data_use, is_slow=True, order=53)
