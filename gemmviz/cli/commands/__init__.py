"""The commands: a module ends with ``COMMAND = Command(...)``, or with COMMANDS by name, which FAMILIES lists."""

FAMILIES = {
    "facts": ("counts", "instrument", "occupancy", "swizzle"),
    "lessons": ("lesson", "quiz"),
    "processes": ("grader", "launches", "worker"),
    "records": ("schedule", "trace"),
}
