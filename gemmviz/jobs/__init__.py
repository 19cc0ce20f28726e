"""Work in the background: events, worker tasks, engines, files that are watched or saved."""
