"""Scenes to pixels and files: one painter for screen and PNG, native writers for the rest."""
