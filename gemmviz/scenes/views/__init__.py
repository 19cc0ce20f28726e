"""The views, one a file, found here by their files' names: what the window, the command line and the exporters offer."""
