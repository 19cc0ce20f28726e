"""Access to an NVIDIA GPU: compiling, tracing, counting and timing. Imported only in the worker's process."""
