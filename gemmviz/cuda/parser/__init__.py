"""C++ text to a typed tree of libclang, with stand-in headers instead of CUDA's own. Runs in the reader process only."""
