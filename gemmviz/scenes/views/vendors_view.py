"""CUDA and HIP side by side: who makes them, what they run on, and what each calls the same thing.

Sources: NVIDIA CUDA C++ Programming Guide; AMD HIP documentation, What is HIP? and HIP porting guide (the HIP runtime runs on
AMD GPUs, and on NVIDIA GPUs as a layer over CUDA). Words for parts of a device are those of the device's file.
"""

from gemmviz.model.cases import LaunchCase
from gemmviz.model.device import CUDA_WORDS
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.layout import REST, Box, Share, round_boxes, write
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.view import View, ViewOptions, eased_in_turn, titled

_INDENT = 24
_WAY = 0.35  # share of the way between the columns, from which a term comes
_MODELS = ("CUDA", "HIP")
_CALLS = (
    (marked("allocate"), "cudaMalloc", "hipMalloc"),
    (marked("copy memory"), "cudaMemcpy", "hipMemcpy"),
    (marked("free"), "cudaFree", "hipFree"),
    (marked("mark of a kernel"), "__global__", "__global__"),
)
_MAKERS = (
    (marked("made by"), "NVIDIA", marked("AMD, open source")),
    (marked("runs on"), marked("NVIDIA GPUs"), marked("AMD and NVIDIA GPUs")),
)
_PARTS_OF_DEVICES = (
    (marked("threads in step"), "warp"),
    (marked("memory of a block"), "shared memory"),
    (marked("group of cores"), "sm"),
)


def vendors_scene(case: LaunchCase, options: ViewOptions) -> Scene:
    """Draw the names of the rows and of both columns."""
    theme, (names, columns), primitives = options.theme, _table_boxes(case, options), list[Primitive]()
    for place, (model, rows) in enumerate(zip(_MODELS, columns, strict=True)):
        box = rows[0]._replace(height=rows[-1].bottom - rows[0].y + 8)
        fill = theme.slate if (case.device.vendor == "AMD") == bool(place) else theme.panel
        style = theme.strong.sized(theme.type.title)
        primitives += [
            round_boxes(f"vendors-column-{place}", box, fill),
            write(f"vendors-head-{place}", rows[0].inset(_INDENT, 0), model, style),
        ]
    for place, ((name, *_), box) in enumerate(zip(_rows_of(case), names[1:], strict=True)):
        primitives.append(write(f"vendors-name-{place}", box, tr(name), theme.soft))
    note = (
        tr("words for parts of the chip on the right: {device}", device=case.device.name)
        if case.device.own_words
        else tr("words of CUDA and of HIP")
    )
    return titled(primitives, tr("CUDA and HIP"), note, options)


def vendors_motion(case: LaunchCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the terms: row by row, that of CUDA and then its counterpart, which comes from it."""
    theme, rows, (_, columns), drawn = options.theme, _rows_of(case), _table_boxes(case, options), list[Primitive]()
    left, right = ([box.inset(_INDENT, 0) for box in column[1:]] for column in columns)
    widest = max(theme.strong.sized(1).width(term) for row in rows for term in row[1:])
    style = theme.strong.sized(min(theme.type.name, left[0].width / widest))
    for place, (_, cuda, hip) in enumerate(rows):
        share = eased_in_turn(options.moment, place, len(rows))
        start = left[place].towards(right[place], 1 - _WAY)
        ends = ((cuda, left[place]), (hip, start.towards(right[place], share)))
        for side, (term, box) in enumerate(ends if share > 0 else ()):
            is_same = side == 1 and hip == cuda
            ink = theme.faded(theme.faint if is_same else theme.text, share)
            drawn.append(write(f"vendors-{place}-{side}", box, term, style.inked(ink)))
    return tuple(drawn)


def _rows_of(case: LaunchCase) -> list[tuple[str, str, str]]:
    """Return what a row is about, and the term of CUDA and of HIP for it."""
    words = case.device.words if case.device.vendor == "AMD" else CUDA_WORDS
    makers = ((name, tr(cuda), tr(hip)) for name, cuda, hip in _MAKERS)
    return [*makers, *((name, tr(CUDA_WORDS[word]), tr(words[word])) for name, word in _PARTS_OF_DEVICES), *_CALLS]


def _table_boxes(case: LaunchCase, options: ViewOptions) -> tuple[list[Box], list[list[Box]]]:
    """Return the boxes of the names of the rows and of the terms in both columns, each below the box of a heading."""
    names, *columns = options.room(120, 28 + options.lacking(20)).columns(274, REST, REST, gap=26)
    sizes: list[float | Share] = [56, *[REST] * len(_rows_of(case))]
    return names.rows(*sizes), [column.rows(*sizes) for column in columns]


VIEW = View(marked("Words of CUDA and HIP"), LaunchCase, vendors_scene, vendors_motion, order=409)
