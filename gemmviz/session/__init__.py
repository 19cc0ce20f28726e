"""State of the running program, independent of Qt: the session, its player, and its documents."""
