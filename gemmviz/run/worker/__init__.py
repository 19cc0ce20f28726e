"""The worker process that owns the GPU, and the link to it."""
