"""Profile: the recorded hardware counters of exactly the shot's launch, beside the counts from its source."""

from gemmviz.analysis.memory.counts import totals
from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.recordings import recorded_counters
from gemmviz.model.cases import Profile, ProfileRow
from gemmviz.model.errors import UsageError
from gemmviz.model.setup import launch_title
from gemmviz.model.translation import tr
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_profile(shot: Shot, context: Context) -> Profile | None:
    """The counters; None before the launch is counted. Raises UsageError for a launch that was not recorded on its device."""
    setup, facts = shot.setup, context.facts
    found = recorded_counters(setup, device_for(setup), "counters", "tensor-counters")
    if found is None:
        remedy = tr("count it with gemmviz verify, on a machine with Nsight Compute")
        raise UsageError(tr("no counters of this launch were recorded"), remedy=remedy)
    if facts is None or facts.counts is None:
        return None
    ours, (recorded, launch) = totals(facts.counts), found
    rows = [
        ProfileRow(metric.removesuffix(".sum"), name, launch.counters[name], ours[name])
        for name, metric in recorded.metrics.items()
        if name in ours
    ]
    return Profile(launch_title(setup), tuple(rows), recorded.source)


SUBJECT = Subject(Profile, _make_profile, needs=("facts",), order=48, name=lambda case: case.what)
