"""From a file of CUDA C++ to a kernel that runs: its project, its launch, and the roles of its arguments."""
