"""The words that every layer speaks: frozen dataclasses, errors and the trace file format."""
