"""Faults planted in kernels of the corpus."""

from tests.corpus.public_habits.corpus import Entry


def faults() -> list[Entry]:
    """All planted faults."""
    return []
