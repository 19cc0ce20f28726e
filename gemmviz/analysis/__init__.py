"""Analysis of traces with NumPy alone: memory costs as the hardware counts them, hazards, replay and models."""
