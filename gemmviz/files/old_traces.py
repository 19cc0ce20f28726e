"""Upgrades of the manifests of older trace files to the present version.

Version 1 had random matrices only, version 2 all phases only. Up to version 3 a site touched one array, a number of neighbours
at once; the launch was described only in the kernel's text; and the device and its rules were not stored. Up to version 4 the
kind of a site followed from the number and the accesses of its operands, an operand had the same offsets for all lanes, and
every step was complete at once.
"""

from typing import Any

from gemmviz.files.codec import to_plain
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.device import MemoryRules

_SETUPS, _KINDS = 4, 5  # the first versions with whole setups, and with kinds of sites


def upgraded(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest in the present version.

    Raises KeyError, TypeError, ValueError or a GemmvizError for an invalid one.
    """
    if manifest["version"] < _SETUPS:
        manifest = _with_setup(manifest)
    if manifest["version"] < _KINDS:
        manifest = _with_kinds(manifest)
    return manifest


def _with_kinds(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest of version 4 as one of version 5."""
    trace = manifest["trace"]
    arrays = [{("element_type" if name == "dtype" else name): each[name] for name in each} for each in trace["arrays"]]
    sites = [_kind_site(site) for site in trace["sites"]]
    return {**manifest, "version": _KINDS, "trace": {**trace, "arrays": arrays, "sites": sites}}


def _kind_site(old: dict[str, Any]) -> dict[str, Any]:
    operands = [
        {"array": each["array"], "access": each["access"], "layout": {"offsets": each.get("offsets", [0])}}
        for each in old.get("operands", ())
    ]
    accesses, waits_for = {each["access"] for each in operands}, old.get("waits_for")
    if (waits_for is None) == (not operands):
        raise ValueError("a site waits, or it touches memory")
    kind = {"block": "barrier", "warp": "warp barrier"}[waits_for] if waits_for else "copy" if len(accesses) > 1 else (
        "load" if accesses == {"read"} else "store"
    )  # fmt: skip
    names = ("place", "text", "loops", "calls", "statement")
    return {**{name: old[name] for name in names if name in old}, "kind": kind, "operands": operands}


def _with_setup(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest of version 1, 2 or 3 as one of version 4."""
    return {
        "format": manifest["format"],
        "version": _SETUPS,
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
