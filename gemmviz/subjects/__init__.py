"""What a view draws: one file for each kind of subject."""
