"""Reader of CUDA C: kernel text to typed nodes with their places, and to the instrumented twin."""
