"""Lockstep interpreter: all traced threads run each node of a Program at once, as NumPy arrays under an active mask."""
