"""The Shot, which says what is shown, and everything that changes it."""
