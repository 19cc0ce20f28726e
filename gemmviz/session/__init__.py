"""The state of a running program without Qt: one session, its player, its documents."""
