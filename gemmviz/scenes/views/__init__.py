"""The views: a file ends with ``VIEW = View(...)``, or with VIEWS by name, which FAMILIES lists."""

FAMILIES = {
    "measured_view": ("access_times", "amdahl", "ladder", "profile", "rounding", "trip"),
    "pair_view": ("pair", "pair_facts"),
    "source_view": ("code", "code_and_tiles", "listing"),
}
