"""Quantities of a shot by id: of its launch, counts, run, models and recordings. Lessons, captions and exercises name them."""
