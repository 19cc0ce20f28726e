"""Preparation of exports: the scenes to draw, and their times."""
