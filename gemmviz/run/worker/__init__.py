"""The worker process that owns the GPU, and the connection to it."""
