"""A sequence of scenes for an export: which moments, at what times."""
