"""Models of the hardware: occupancy, latency, schedules."""
