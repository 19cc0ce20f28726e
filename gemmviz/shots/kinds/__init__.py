"""One module for each kind of subject; each ends with ``SUBJECT = Subject(...)``."""
