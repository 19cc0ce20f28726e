"""The formats of files: a module ends with ``FORMAT = Still(...)``, or with FORMATS by name, which FAMILIES lists."""

FAMILIES = {"pictures": ("html", "pdf", "png", "pptx", "svg")}
