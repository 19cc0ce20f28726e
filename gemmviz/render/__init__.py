"""Scenes to pixels and files: one painter for screen and PNG, writers for the other formats."""
