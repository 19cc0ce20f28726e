"""The included kernels as rungs of a ladder: the share of cuBLAS that each reaches, and below it the counts that explain it."""

from itertools import groupby

from gemmviz.model.cases import Ladder
from gemmviz.model.translation import marked, percent, tr
from gemmviz.scenes.kit.layout import BAR, NEAR, REST, ROW_PITCH, Box, Share, path, round_boxes, write, write_all
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_NAMES = 190  # width of the names of rows


def ladder_scene(case: Ladder, options: ViewOptions) -> Scene:
    """Draw the names of kernels and GPUs, and the counts. Bars are drawn by ``ladder_motion``."""
    theme, (heads, columns, rows) = options.theme, _places(case, options)
    small, strong = theme.small, theme.strong.sized(theme.type.note)
    texts = (
        ([each.number for each in case.rungs], strong, ""),
        ([each.word for each in case.rungs], small, ""),
        ([f"{each.sectors:.3g}" for each in case.rungs], strong, tr("sectors")),
        ([f"{each.wavefronts:.3g}" for each in case.rungs], strong, tr("wavefronts")),
    )
    drawn: list[Primitive] = []
    for place, (row, (values, style, name)) in enumerate(zip(rows, texts, strict=True)):
        boxes = [row._replace(x=column.x - 8, width=column.width + 16) for column in columns]
        drawn.append(write_all(f"ladder-row-{place}", boxes, values, style, "middle"))
        drawn.append(write(f"ladder-row-name-{place}", row._replace(width=_NAMES), name, theme.soft.sized(theme.type.note)))
    first = 0
    for base, group in groupby(case.rungs, key=lambda each: each.base):
        last = first + len(list(group)) - 1
        box = heads._replace(x=columns[first].x, width=columns[last].right - columns[first].x)
        drawn += [path(f"ladder-base-{first}", [box.at(0, 1), box.at(1, 1)], theme.faint, 2)]
        drawn.append(write(f"ladder-base-name-{first}", box, base, theme.soft.sized(theme.type.note), "middle"))
        first = last + 1
    note = tr("sectors and wavefronts for each multiply-add of a warp, counted at N = {n}", n=case.counted_at)
    return titled(drawn, tr("Share of cuBLAS, N = {n}", n=case.n), note, options)


def ladder_motion(case: Ladder, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars, one after another, with their shares."""
    theme, (_, columns, _), drawn = options.theme, _places(case, options), list[Primitive]()
    for place, (rung, column) in enumerate(zip(case.rungs, columns, strict=True)):
        share = eased_in_turn(options.moment, place, len(case.rungs))
        head, whole = column.rows(ROW_PITCH * theme.type.note, REST)
        bar = whole.columns(Share(1 - BAR), Share(2 * BAR), Share(1 - BAR))[1].part(down=(1 - share * rung.percent / 100, 1))
        drawn.append(round_boxes(f"ladder-bar-{place}", bar, theme.load))
        if share >= 1:
            above = Box(column.x - 10, bar.y - head.height, column.width + 20, head.height)
            style = theme.strong.sized(theme.type.note)
            drawn.append(write(f"ladder-share-{place}", above, percent(rung.percent / 100), style, "middle"))
    return tuple(drawn)


def _places(case: Ladder, options: ViewOptions) -> tuple[Box, list[Box], list[Box]]:
    """Return the row of the GPUs, the columns of the bars, and the rows below them."""
    line = ROW_PITCH * options.theme.type.note
    heads, bars, *rows = options.room(112, 24).rows(line, Share(1), line, line, line, line, gap=NEAR / 2)
    return heads, bars.trimmed(left=_NAMES).columns(*[REST] * len(case.rungs)), rows


VIEW = View(marked("Ladder: share of cuBLAS by kernel"), Ladder, ladder_scene, ladder_motion, order=610)
