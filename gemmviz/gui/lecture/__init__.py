"""The lecture in full screen, with its presenter view."""
