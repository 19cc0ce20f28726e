"""Everything that talks to an NVIDIA GPU, and nothing else does: it runs in the worker's process alone."""
