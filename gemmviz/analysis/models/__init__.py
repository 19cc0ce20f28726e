"""Models of the hardware: occupancy, latency hiding and schedules."""
