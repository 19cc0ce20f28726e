"""Charts as values, built from measurements and counts."""
