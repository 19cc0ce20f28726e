"""Writes charts as CSV tables for spreadsheets, one row per point or bar."""

import csv
import io

from gemmviz.model.chart import Chart


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
