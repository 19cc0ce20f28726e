"""The views: a file ends with ``VIEW = View(...)``, or with VIEWS by name, which FAMILIES lists."""

FAMILIES = {
    "addresses_view": ("memory_strip", "walk"),
    "device_view": ("cache", "device", "reach"),
    "latency_view": ("latency", "switch"),
    "launch_view": ("guard", "launch"),
    "measured_view": ("access_times", "amdahl", "ladder", "profile", "rounding", "trip"),
    "memories_view": ("data", "hierarchy", "spaces"),
    "on_chip_view": ("registers", "sm_memory"),
    "orders_view": ("loops", "order", "race"),
    "pair_view": ("pair", "pair_facts"),
    "phase_view": ("block_phase", "costs", "loads", "phases"),
    "request_view": ("banks", "memory", "request"),
    "source_view": ("code", "code_and_tiles", "listing"),
    "sum_view": ("sum", "work"),
    "terms_view": ("terms", "vendors"),
    "tiles_view": ("first_blocks", "nesting", "tensor_tile"),
    "warp_view": ("branch", "fetch", "warp"),
    "why_view": ("bytes", "why"),
}
