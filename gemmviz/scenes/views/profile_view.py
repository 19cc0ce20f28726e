"""A profile read: each hardware counter by its name in Nsight Compute, what it counts, its value, and that of the source."""

from gemmviz.model.cases import Profile, ProfileRow
from gemmviz.model.translation import marked, percent, spaced, tr
from gemmviz.scenes.kit.layout import AIR, NEAR, REST, Share, lines_down, wrapped
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_MEANINGS = {
    "global_load_requests": marked("loads from global memory, by warp"),
    "global_load_sectors": marked("sectors that they move"),
    "global_store_requests": marked("stores into global memory"),
    "global_store_sectors": marked("sectors that these move"),
    "shared_load_instructions": marked("loads from shared memory"),
    "shared_store_instructions": marked("stores into shared memory"),
    "shared_wavefronts": marked("passes over the banks"),
    "shared_wavefronts_ideal": marked("passes without conflicts"),
}


def profile_scene(case: Profile, options: ViewOptions) -> Scene:
    """Draw the table, and below it the ratios that a reader of a profile looks at first."""
    theme = options.theme
    upper, lower = options.room(112).rows(Share(5), REST, gap=AIR)
    heads = (tr("what it counts"), "Nsight Compute", tr("recorded"), tr("from the source"))
    rows = [_cells(row) for row in case.rows if row.name in _MEANINGS]
    drawn: list[Primitive] = [*table("profile", heads, rows, upper, theme, largest=theme.type.name)]
    texts = _ratios(case)
    for number, (text, box) in enumerate(zip(texts, lower.columns(*[REST] * max(1, len(texts)), gap=NEAR), strict=False)):
        drawn += lines_down(box, wrapped(f"profile-ratio-{number}", text, theme.large, box.width, 1))
    return titled(drawn, tr("Profile of {what}", what=case.what), case.source, options)


def _cells(row: ProfileRow) -> list[TableCell]:
    differs = row.hardware != row.ours
    metric = TableCell(row.metric)
    return [
        TableCell(tr(_MEANINGS[row.name])),
        metric,
        TableCell(spaced(row.hardware), strong=True),
        TableCell(spaced(row.ours), strong=differs),
    ]


def _ratios(case: Profile) -> list[str]:
    """Return the sectors of a request, and how many of the wavefronts are needed."""
    requests, sectors = case.value("global_load_requests"), case.value("global_load_sectors")
    wavefronts, ideal = case.value("shared_wavefronts"), case.value("shared_wavefronts_ideal")
    texts = (
        [tr("{sectors} sectors for each load of a warp", sectors=f"{sectors / requests:.3g}")] if requests and sectors else []
    )
    if wavefronts and ideal:
        texts.append(tr("{share} of the wavefronts are needed", share=percent(ideal / wavefronts)))
    return texts


VIEW = View(marked("Profile: hardware counters"), Profile, profile_scene, is_count=True, order=611)
