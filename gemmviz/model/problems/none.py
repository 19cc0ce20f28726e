"""No problem: any arrays of given shapes, and nothing that is checked."""

from gemmviz.model.problem_kind import ProblemKind
from gemmviz.model.translation import marked

KIND = ProblemKind("none", marked("Nothing is checked"), "", (), (), why_no_flops=marked("the problem is unknown"))
