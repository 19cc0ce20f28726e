"""Background work: task workers, engines, watched files and the save queue."""
