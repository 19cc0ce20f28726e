"""Measured and recorded speeds."""
