"""The Shot, which defines what is displayed, and the code that changes and describes it."""
