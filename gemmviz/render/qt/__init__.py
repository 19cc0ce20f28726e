"""Scenes on the screen and as pixels, with Qt."""
