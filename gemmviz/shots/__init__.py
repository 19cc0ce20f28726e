"""Shots and what is known of them: runs, counts, the values that views draw; and work in the background."""
