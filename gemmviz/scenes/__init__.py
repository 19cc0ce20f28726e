"""Pictures as data: a replay at a step becomes a list of frozen primitives that any renderer can draw."""
