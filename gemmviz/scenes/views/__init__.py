"""The views, one file each. The window, the command line and the exporters find them by file name."""
