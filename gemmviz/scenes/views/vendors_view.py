"""CUDA and HIP side by side: who makes them, what they run on, and what each calls the same thing.

Sources: NVIDIA CUDA C++ Programming Guide; AMD HIP documentation, What is HIP? and HIP porting guide (the HIP runtime runs on
AMD GPUs, and on NVIDIA GPUs as a layer over CUDA). Words for parts of a device are those of the device's file.
"""

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import CUDA_WORDS
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, eased_from, titled
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import mixed
from gemmviz.scenes.kit.view import View

_TOP, _NAMES, _GAP = 120.0, 300.0, 26.0
_STAGGER, _WAY = 0.6, 0.35  # shares of the time: start of the last row; width from which a term comes
_HEADS = ("CUDA", "HIP")
_CODE = (
    (marked("allocate"), "cudaMalloc", "hipMalloc"),
    (marked("copy memory"), "cudaMemcpy", "hipMemcpy"),
    (marked("free"), "cudaFree", "hipFree"),
    (marked("mark of a kernel"), "__global__", "__global__"),
)
_MAKERS = (
    (marked("made by"), "NVIDIA", marked("AMD, open source")),
    (marked("runs on"), marked("NVIDIA GPUs"), marked("AMD and NVIDIA GPUs")),
)
_PARTS = (
    (marked("threads in step"), "warp"),
    (marked("memory of a block"), "shared memory"),
    (marked("group of cores"), "sm"),
)


def vendors_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the names of the rows and of both columns."""
    theme, sizes = options.theme, options.theme.type
    primitives: list[Primitive] = []
    for place, head in enumerate(_HEADS):
        box = _column(place, options)
        fill = theme.slate if (case.device.vendor == "AMD") == bool(place) else theme.panel
        primitives += [
            Rects(f"vendors-column-{place}", boxes(box), fill, radius=10.0),
            text_at(f"vendors-head-{place}", (box.x + 24.0, box.y + 42.0), head, sizes.title, theme.text, "start", "semibold"),
        ]
    for place, (name, *_) in enumerate(_rows(case)):
        at = (MARGIN, _baseline(place, case, options))
        primitives.append(text_at(f"vendors-name-{place}", at, tr(name), sizes.words, theme.faint))
    note = (
        tr("words for parts of the chip on the right: {device}", device=case.device.name)
        if case.device.own_words
        else tr("words of CUDA and of HIP")
    )
    return titled(primitives, tr("CUDA and HIP"), note, options)


def vendors_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the terms: row by row, that of CUDA and then its counterpart, which comes from it."""
    theme, rows, drawn = options.theme, _rows(case), list[Primitive]()
    size = min(theme.type.name, *(_size(row, options) for row in rows))
    for place, (_, *terms) in enumerate(rows):
        start = _STAGGER * place / max(1, len(rows) - 1)
        share = eased_from(options.moment, start, 1.0 - _STAGGER)
        for side, term in enumerate(terms):
            if share > 0.0:
                drawn.append(_term(place, side, term, share, size, case, options))
    return tuple(drawn)


def _rows(case: LaunchCase) -> list[tuple[str, str, str]]:
    """Return what a row is about, and the term of CUDA and of HIP for it."""
    words = case.device.words if case.device.vendor == "AMD" else CUDA_WORDS
    makers = ((name, tr(cuda), tr(hip)) for name, cuda, hip in _MAKERS)
    return [*makers, *((name, tr(CUDA_WORDS[word]), tr(words[word])) for name, word in _PARTS), *_CODE]


def _column(place: int, options: ViewOptions) -> Box:
    return options.room(_TOP, 20.0).trimmed(left=_NAMES).grid(1, 2, _GAP)[place]


def _baseline(place: int, case: LaunchCase, options: ViewOptions) -> float:
    """Return the baseline of a row."""
    row = _column(0, options).trimmed(top=56.0, bottom=8.0).grid(len(_rows(case)), 1)[place]
    return baseline(row.middle_y, options.theme.type.name)


def _size(row: tuple[str, str, str], options: ViewOptions) -> float:
    """Return the text size at which both terms of a row fit."""
    room = _column(0, options).width - 48.0
    return room / max(text_width(term, 1.0, "semibold") for term in row[1:])


def _term(
    place: int, side: int, term: str, share: float, size: float, case: LaunchCase, options: ViewOptions
) -> Labels:  # fmt: skip
    """Draw a term; that of HIP on its way from the left column, stronger with its share of the way."""
    theme, start, end = options.theme, _column(0, options).x + 24.0, _column(side, options).x + 24.0
    x = start + (end - start) * (1.0 - _WAY * (1.0 - share)) if side else end
    is_same = side == 1 and term == _rows(case)[place][1]
    ink = mixed(theme.background, theme.faint if is_same else theme.text, share)
    text = fitted(term, size, _column(side, options).width - 48.0, "semibold")
    return text_at(f"vendors-{place}-{side}", (x, _baseline(place, case, options)), text, size, ink, "start", "semibold")


VIEW = View(marked("Words of CUDA and HIP"), LaunchCase, vendors_scene, vendors_motion, order=44)
