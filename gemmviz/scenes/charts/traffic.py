"""Reads from global memory by tile width, as a chart."""

from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.traffic import TrafficCase
from gemmviz.model.translation import marked, tr
from gemmviz.model.words import spaced

_UNTILED = marked("without tiles, 2 M N K")


def _part(elements: int, untiled: int) -> str:
    """Return the part of the reads without tiles: "1/8", or a percentage if it isn't one n-th."""
    if not elements or not untiled:
        return ""
    return f"1/{untiled // elements}" if untiled % elements == 0 else f"{100 * elements / untiled:.3g} %"


def traffic_chart(case: TrafficCase) -> Chart:
    """Return the elements read from global memory over the width of a tile, and the reads without tiles."""
    points = tuple((float(row.width), float(row.elements)) for row in case.rows)
    texts = tuple(
        tr(
            "{parameter} = {width}: {elements} reads, {sectors} sectors",
            parameter=case.parameter,
            width=row.width,
            elements=spaced(row.elements),
            sectors=spaced(row.sectors),
        )
        for row in case.rows
    )
    flat = tuple((x, float(case.untiled)) for x, _ in points)
    flat_texts = tuple(tr("without tiles: {untiled} reads", untiled=spaced(case.untiled)) for _ in flat)
    parts = tuple(_part(row.elements, case.untiled) for row in case.rows)
    has_reads = case.untiled > 0 and all(row.elements > 0 for row in case.rows)  # a logarithmic axis has no zero
    names = (case.what.partition(",")[0], tr(_UNTILED))
    here = next((row for row in case.rows if row.width == case.here), None)
    notes = [tr("every access of the whole launch counted from the source, for each width")]
    if here is not None and here.elements:
        fewer = case.untiled / here.elements
        saved = tr(", {fewer} times fewer", fewer=f"{fewer:.4g}") if fewer > 1.0 else ""
        notes.insert(
            0,
            tr(
                "{parameter} = {width}: {elements} reads{saved}",
                parameter=case.parameter,
                width=here.width,
                elements=spaced(here.elements),
                saved=saved,
            ),
        )
    return Chart(
        tr("Reads from global memory by tile width: {what}", what=case.what),
        Axis(case.parameter, is_log=True, ticks=tuple((x, f"{x:g}") for x, _ in points)),
        Axis(tr("elements read from global memory"), is_log=has_reads),
        (
            Curve(names[0], names[0], names[0], points, texts, values=parts),
            Curve(names[1], tr("without tiles"), names[1], flat, flat_texts, dashed=True),
        ),
        marks=(Mark(float(case.here), "", is_here=True),) if here is not None else (),
        families=names,
        notes=tuple(notes),
    )
