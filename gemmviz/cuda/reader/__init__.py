"""Cursors of libclang to the typed nodes of one kernel: templates instantiated, calls inlined, constants folded."""
