"""Devices: a .toml file each. Its name without .toml is what --device takes."""
