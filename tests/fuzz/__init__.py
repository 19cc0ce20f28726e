"""Input that nobody meant, made up without end: nothing of it may end in a traceback, a signal, too much memory, or a long wait.

``make fuzz`` runs the campaigns for as long as one likes; the tests run each for a moment, always with the same cases.
"""
