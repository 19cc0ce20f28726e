"""The words that every layer speaks: frozen dataclasses, and errors that say what, where and what to do."""
