"""A chart in words, and its points and bars as rows of a table."""

from collections.abc import Iterator

from gemmviz.model.chart import Chart
from gemmviz.model.translation import tr
from gemmviz.model.words import capital, number

ChartRow = tuple[str, str, str, str]


def chart_columns(chart: Chart) -> ChartRow:
    """Return the names of the columns of ``chart_rows``."""
    return tr("curve or part"), chart.x.label, chart.y.label, tr("what was measured")


def chart_rows(chart: Chart) -> Iterator[ChartRow]:
    """Yield a row for each point of a curve, each segment of a bar, and each value beside the curves."""
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            yield curve.label, f"{x:g}", number(y), text
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            yield (
                tr(bars.role),
                f"{x:g}",
                number(height),
                tr("from {least} to {most}", least=number(bottom), most=number(bottom + height)),
            )
    for aside in chart.asides:
        yield aside.family, "", number(aside.y), aside.text


def chart_facts(chart: Chart) -> Iterator[tuple[str, str]]:
    """Yield the facts of a chart as names and texts: its axes, each curve with its points, its bars, and its notes."""
    yield tr("Axes"), tr("{y} by {x}", y=chart.y.label, x=chart.x.label)
    for curve in chart.curves:
        yield curve.label, ", ".join(f"{x:g}: {number(y)}" for x, y in curve.points)
    for bars in chart.bars:
        yield capital(tr(bars.role)), ", ".join(f"{x:g}: {number(y)}" for x, y in zip(bars.x, bars.heights, strict=True))
    for aside in chart.asides:
        yield aside.family, aside.text
    if chart.notes:
        yield tr("Notes"), ". ".join(chart.notes)


def chart_words(chart: Chart) -> str:
    """Return a chart in words, one fact a line."""
    return "\n".join((chart.title, *(f"{name}: {text}" for name, text in chart_facts(chart))))
