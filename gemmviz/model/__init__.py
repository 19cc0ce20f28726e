"""Data types shared by all layers: frozen records of kernels, setups, traces, devices and cases; texts and errors."""
