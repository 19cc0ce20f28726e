"""Installers: the program as a folder, and the files of each system made from it."""
