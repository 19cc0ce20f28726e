"""Kinds of subjects: a module ends with ``SUBJECT = Subject(...)``, or with SUBJECTS by name, which FAMILIES lists."""

FAMILIES = {
    "counted": ("block_phase", "data_use", "loads", "roof", "traffic", "why"),
    "launches": ("grid", "launch", "occupancy", "pair", "profile", "rounding"),
    "measured": ("access_times", "amdahl", "benchmark", "host", "ladder", "strides", "trip"),
    "runs": ("code", "listing", "loops", "moment", "race"),
}
