"""The start of the window: the shipped lessons as cards beside the picture, and ways to own kernels."""
