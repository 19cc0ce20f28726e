"""Figures of speed: ``make bench`` compares them with what is promised, ``make bench AGAINST=COMMIT`` with another commit."""
