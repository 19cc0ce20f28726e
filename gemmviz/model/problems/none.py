"""No problem: any arrays of given shapes, and nothing that is checked."""

from gemmviz.model.problem_kind import ProblemKind

KIND = ProblemKind("none", "Nothing is checked", "", (), (), why_no_flops="the problem is unknown")
