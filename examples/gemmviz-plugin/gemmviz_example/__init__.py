"""A view, a command, a device and a kind of quiz question: a package to copy."""
