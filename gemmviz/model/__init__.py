"""Data types shared by all layers: frozen dataclasses for kernels, setups, traces, devices and cases, and the errors."""
