"""Subjects, the values that views draw: what each kind needs, and how it is computed."""
