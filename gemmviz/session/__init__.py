"""State of the running program, independent of Qt: the session, its playback, its lessons, and the files that it opens."""
