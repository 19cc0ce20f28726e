"""Checks whether an output file may be written: a suitable suffix, and no input or shipped file overwritten."""

import csv
import io
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from gemmviz.files.resources import ROOT, user_folder
from gemmviz.model.chart import Chart
from gemmviz.model.errors import UsageError

_SHIPPED_FOLDERS = (
    "kernels", "assets/devices", "assets/fonts", "assets/icons", "assets/lessons", "assets/measurements", "assets/page",
    "assets/programs", "assets/themes",
)  # fmt: skip


def check_output(path: Path, suffixes: Collection[str] = (), inputs: Iterable[Path] = ()) -> None:
    """Checks an output path. Raises UsageError for a wrong suffix, or if writing would destroy a file that is needed.

    ``suffixes``: valid suffixes with their dots; empty for any. ``inputs``: files that are read; they are recognized under
    other names and through links too. Files that ship with gemmviz and the user's devices are never overwritten.
    """
    target = Path(os.path.realpath(path))
    if suffixes and not {path.suffix.lower(), target.suffix.lower()} <= set(suffixes):
        allowed, wrong = " or ".join(suffixes), next(each for each in (path, target) if each.suffix.lower() not in suffixes)
        link = "" if wrong == path else f"this is a link to {target}; "
        what = wrong.suffix or "a file without suffix"
        raise UsageError(f"{link}this is saved as {allowed}, not as {what}", file=str(path), remedy="choose another name")
    for each in inputs:
        if _is_same_file(path, each):
            raise UsageError("this file is an input; it is not overwritten", file=str(path), remedy="choose another name")
    for folder in (*(ROOT / name for name in _SHIPPED_FOLDERS), user_folder("devices")):
        if target.is_relative_to(os.path.realpath(folder)):
            raise UsageError(f"files in {folder} are not overwritten", file=str(path), remedy="choose another folder")


def _is_same_file(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:  # one of them doesn't exist
        return os.path.realpath(a) == os.path.realpath(b)
    except ValueError:  # an invalid file name
        return False


# Charts as tables for spreadsheets


def chart_csv(chart: Chart) -> str:
    """CSV text of a chart: title and notes, then one row per point of a curve or per segment of a bar (its two ends)."""
    buffer = io.StringIO()
    rows = csv.writer(buffer, lineterminator="\n")
    rows.writerow([f"# {'. '.join([chart.title, *chart.notes])}"])
    if chart.curves:
        rows.writerow(["curve", chart.x.label, chart.y.label, "what was measured"])
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            rows.writerow([curve.label, f"{x:g}", f"{y:.6g}", text])
    if chart.bars:
        rows.writerow(["part", chart.x.label, "from", "to", chart.y.label])
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            rows.writerow([bars.role, f"{x:g}", f"{bottom:g}", f"{bottom + height:g}"])
    return buffer.getvalue()
