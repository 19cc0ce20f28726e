"""Manifests of older trace files, as the present version would have written them.

Version 1 knew random matrices only, version 2 all phases only. Up to version 3 a site touched one array, a number of neighbours
at once; how the kernel is launched stood in its text alone; and the device and its rules were not kept.
"""

from typing import Any

from gemmviz.files.codec import to_plain
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.device import MemoryRules

_SETTLED = 4


def upgraded(manifest: dict[str, Any]) -> dict[str, Any]:
    """Raises KeyError, TypeError, ValueError or a GemmvizError for a manifest that is none."""
    if manifest["version"] >= _SETTLED:
        return manifest
    return {
        "format": manifest["format"],
        "version": _SETTLED,
        "source_sha256": manifest["source_sha256"],
        "arrays": manifest["arrays"],
        "trace": _trace(manifest),
    }


def _trace(old: dict[str, Any]) -> dict[str, Any]:
    settings, warp_size = old["settings"], old["warp_size"]
    filling = {"pattern": "random", "seed": old["seed"]} if old["version"] == 1 else settings["filling"]
    phases = old.get("phases")
    whole = all(list(old["window"][axis]) == [0, extent] for axis, extent in zip("xyz", old["launch"]["grid"], strict=True))
    return {
        "setup": {
            "kernel": to_plain(parse_kernel(old["source"], old["file"])),
            "problem": settings["problem"],
            "parameters": settings["parameters"],
            "filling": filling,
            "blocks": "all" if whole else ",".join("{}:{}".format(*old["window"][axis]) for axis in "xyz"),
            "phases": "" if phases is None else f"{phases[0] + 1}-{phases[1]}",
        },
        "launch": old["launch"],
        "blocks": old["window"],
        "rules": to_plain(MemoryRules(warp_size=warp_size, request_lanes=warp_size)),
        "arrays": old["memory"],
        "sites": [_site(site) for site in old["sites"]],
        "loops": old["loops"],
        "check": old["check"],
        "notes": old["notes"],
        "by": old["executor"],
        "phases": phases,
    }


def _site(old: dict[str, Any]) -> dict[str, Any]:
    new = {name: old[name] for name in ("place", "text", "loops", "calls", "statement")}
    if old["kind"] in ("load", "store"):
        access = "read" if old["kind"] == "load" else "write"
        new["operands"] = [{"array": old["array"], "access": access, "offsets": list(range(_width(old["width"])))}]
    else:
        new["waits_for"] = {"barrier": "block", "warp barrier": "warp"}[old["kind"]]
        if old["array"] != -1:
            raise ValueError("a barrier touches no array")
    return new


def _width(width: Any) -> int:
    if width not in (1, 2, 3, 4):
        raise ValueError("a thread touches one to four neighbours")
    return int(width)
