"""Source of a shot's kernel as it is printed with a question, and a legend of the launch."""

from gemmviz.analysis.listing import PrintedSource, printed_source
from gemmviz.model.errors import GemmvizError
from gemmviz.shots.knowledge import Context
from gemmviz.shots.legend import LaunchWords
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject


def _make_listing(shot: Shot, context: Context) -> PrintedSource:
    try:
        legend = LaunchWords(shot.setup, shot.labels).legend
    except GemmvizError:
        legend = ""  # the launch can't run; the source can be read all the same
    return printed_source(shot.setup.kernel, shot.at.line, legend)


SUBJECT = Subject(PrintedSource, _make_listing, is_slow=True, order=49)
