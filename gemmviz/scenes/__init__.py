"""Pictures as data: a subject becomes a list of frozen primitives that any renderer can draw."""
