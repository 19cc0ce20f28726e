"""One file for each kind of subject; each ends with ``SUBJECT = Subject(...)``."""
