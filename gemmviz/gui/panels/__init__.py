"""The panels, a file each."""
