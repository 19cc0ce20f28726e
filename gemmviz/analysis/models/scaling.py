"""Quantities that grow with a multiplication: its work and span, the bytes of its matrices, and the sizes that a cache holds.

Work and span count the algorithm's multiplications and additions, 2 for each term, with a sum that begins with zero and takes
its terms in order. The model of the cache is that it holds
whatever is used as long as all of it fits; ways, lines and other data are left out.
"""

from math import isqrt

from gemmviz.model.problem import Problem

BYTES = 4  # of a float32


def work_of(problem: Problem) -> int:
    """Return T1 of C = A B: the 2 M N K operations that one thread does in sequence."""
    return 2 * problem.M * problem.N * problem.K


def span_of(problem: Problem) -> int:
    """Return T-infinity, the longest chain of operations: one product, since products wait for nothing, and K additions."""
    return problem.K + 1


def parallelism_of(problem: Problem) -> float:
    """Return work divided by span: the most that any number of threads can gain."""
    return work_of(problem) / span_of(problem)


def matrix_bytes(problem: Problem) -> dict[str, int]:
    """Return the bytes of A, B and C in float32."""
    m, n, k = problem.M, problem.N, problem.K
    return {"A": BYTES * m * k, "B": BYTES * k * n, "C": BYTES * m * n}


def data_bytes(problem: Problem) -> int:
    """Return the bytes of A, B and C together."""
    return sum(matrix_bytes(problem).values())


def largest_held(cache_bytes: int) -> int:
    """Return the largest N of which three N x N matrices fit a cache; 0 if none do."""
    return isqrt(cache_bytes // (3 * BYTES))
