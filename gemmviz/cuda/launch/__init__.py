"""Launches of kernels: catalog, formulas, limits of the device, nearest legal sizes."""
