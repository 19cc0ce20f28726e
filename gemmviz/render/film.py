"""Films written with FFmpeg's libraries, one frame after the other, so that memory stays constant. While one frame is encoded,
the next one is painted.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field

from gemmviz.model.messages import GemmvizError, UsageError, marked, tr
from gemmviz.render.encoding import Colours, most_different
from gemmviz.render.qt.libraries import require_qt
from gemmviz.render.reel import Film, Frame, Reel, RenderOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, Scene
from gemmviz.scenes.kit.theme import channels

if TYPE_CHECKING:
    import av

    from gemmviz.render.qt.raster import Raster

# The colours in which a scene is drawn.

_ALIKE = 8  # of 255: distance within which colours are taken for one


def colours_of(scene: Scene) -> set[str]:
    """Return all colours of the primitives of a scene and of its background, as #RRGGBB."""
    return {scene.background}.union(*map(_inks, scene.all))


def _inks(each: Primitive) -> set[str]:
    if isinstance(each, Rects):
        return {colour for colour in (each.fill, each.stroke) if colour is not None}
    if isinstance(each, Lines):
        return {each.stroke}
    if isinstance(each, Labels):
        return {each.colour}
    used = np.flatnonzero(np.bincount(each.fill.ravel())).tolist()
    named = {each.inks[place] for place in used} if each.labels is not None else set()
    line = {each.line} if isinstance(each, Cells) and each.line is not None else set()
    return {each.palette[place] for place in used} | named | line


def unlike(colours: Colours, inks: Colours) -> Colours:
    """Return those of the colours that nobody takes for one of the inks."""
    away = np.abs(colours[:, None].astype(np.int64) - inks[None]).max(axis=2).min(axis=1)
    return np.asarray(colours[away > _ALIKE])


_FRAMES_AHEAD = 3  # frames that wait for the encoder
_BT709, _LIMITED = 1, 1  # as ITU-T H.273 numbers them
_SAMPLED_FPS, _PALETTE_SAMPLES = 5, 16
_MOST_COLOURS, _MOST_INKS = 255, 128


class Coding(Struct, frozen=True):
    """The encoding of a film.

    ``codecs``: FFmpeg's names; the first available one is used. ``pixels``: the pixel format, and ``clear_pixels`` that of a
    transparent film. ``options``: options of the encoder; ``container``: options of the file. ``step``: the sides are multiples
    of so many pixels; ``most_fps``: the highest frame rate of the format.
    """

    file: str
    codecs: tuple[str, ...]
    pixels: str
    clear_pixels: str = ""
    options: dict[str, str] = field(default_factory=dict)
    container: dict[str, str] = field(default_factory=dict)
    step: int = 1
    most_fps: int = 120


def save_film(reel: Reel, path: Path, options: RenderOptions, coding: Coding) -> None:
    """Write a film. Raises UsageError for a size or a rate that the format doesn't support, GemmvizError if there is no
    encoder.
    """
    require_qt()
    _check_size_and_rate(options, coding)
    import av  # imported here because loading takes longer than drawing a picture

    from gemmviz.render.qt.raster import Raster

    raster = Raster(options)
    with av.open(str(path), "w", format=coding.file, options={"fflags": "+bitexact", **coding.container}) as file:
        stream: Any = file.add_stream(_codec(coding), rate=options.fps, options=coding.options)
        stream.width, stream.height = options.width, options.height
        stream.pix_fmt = (coding.clear_pixels if options.is_transparent else coding.pixels) or coding.pixels
        context: Any = stream.codec_context
        context.flags |= 1 << 23  # AV_CODEC_FLAG_BITEXACT
        if coding.pixels.startswith("yuv"):
            context.color_primaries = context.color_trc = context.colorspace = _BT709
            context.color_range = _LIMITED
        convert = _palette_of(reel, raster) if stream.pix_fmt == "pal8" else _converter(stream.pix_fmt, raster, options)
        _encode(reel.frames(options.fps), convert, file, stream, options)


def _check_size_and_rate(options: RenderOptions, coding: Coding) -> None:
    step = coding.step
    if options.width % step or options.height % step:
        near = f"{options.width // step * step}x{options.height // step * step}"
        raise UsageError(
            tr("the sides of a film as {file} must be even", file=coding.file.upper()),
            remedy=tr("use --size {near}", near=near),
        )
    if options.fps > coding.most_fps:
        sentence = tr(
            "a film as {file} has at most {most_fps} frames a second", file=coding.file.upper(), most_fps=coding.most_fps
        )
        raise UsageError(sentence, remedy=tr("use --fps {most_fps}", most_fps=coding.most_fps))


def _codec(coding: Coding) -> str:
    import av

    codec = next((name for name in coding.codecs if name in av.codecs_available), None)
    if codec is None:
        raise GemmvizError(
            tr("FFmpeg has no encoder {codecs}", codecs=tr(" or ").join(coding.codecs)), remedy=tr("pip install --upgrade av")
        )
    return codec


def _encode(
    frames: Iterator[Frame], convert: "Callable[[Frame], av.VideoFrame]", file: Any, stream: Any, options: RenderOptions
) -> None:
    """Paint and convert frames in this thread, and encode them in another one. Errors of the frames end both."""
    waiting: queue.Queue[av.VideoFrame | None] = queue.Queue(_FRAMES_AHEAD)
    failed: list[Exception] = []

    def encode() -> None:
        number = 0
        try:
            while (ready := waiting.get()) is not None:
                ready.pts, ready.time_base = number, Fraction(1, options.fps)
                file.mux(stream.encode(ready))
                number += 1
            file.mux(stream.encode(None))
        except Exception as error:
            failed.append(error)
            while waiting.get() is not None:
                pass

    beside = threading.Thread(target=encode, name="gemmviz-encoder")
    beside.start()
    try:
        latest: tuple[Frame, av.VideoFrame] | None = None
        for frame in frames:
            if latest is None or not _are_equal_frames(latest[0], frame):
                latest = frame, convert(frame)
            waiting.put(latest[1])
            if failed:
                break
    finally:
        waiting.put(None)
        beside.join()
    if failed:
        raise OSError(None, tr("the film can't be encoded: {failed}", failed=failed[0]))


def _are_equal_frames(a: Frame, b: Frame) -> bool:
    """Whether two frames are equal."""
    return a.still is b.still and not (a.motion or b.motion or a.layers or b.layers)


def _converter(pixels: str, raster: "Raster", options: RenderOptions) -> "Callable[[Frame], av.VideoFrame]":
    """Return the conversion of frames: painted in the library's format, then converted to BT.709 unless the format is RGB."""
    import av
    from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

    painted, reformatter = av.VideoFrame(options.width, options.height, "bgra"), VideoReformatter()
    to: dict[str, Any] = {"format": pixels}
    if pixels.startswith("yuv"):
        to |= {"dst_colorspace": Colorspace.ITU709, "dst_color_range": ColorRange.MPEG, "interpolation": "FAST_BILINEAR"}

    def convert(frame: Frame) -> av.VideoFrame:
        target = av.VideoFrame(options.width, options.height, "bgra") if pixels == "bgra" else painted
        raster.paint_into(frame, memoryview(target.planes[0]), target.planes[0].line_size)
        return target if pixels == "bgra" else reformatter.reformat(target, **to)

    return convert


def _palette_of(reel: Reel, raster: "Raster") -> "Callable[[Frame], av.VideoFrame]":
    """Return one palette for the whole film: the colours in which its pictures are drawn, however seldom, and those that
    edges and blends add, from frames of all its parts.
    """
    import av
    from PIL import Image

    count = reel.frame_count(_SAMPLED_FPS)
    chosen = set(np.linspace(0, count - 1, min(count, _PALETTE_SAMPLES)).astype(int).tolist())
    samples, drawn, latest = [], set[str](), None
    for number, frame in enumerate(reel.frames(_SAMPLED_FPS)):
        if frame.still is not latest:
            drawn |= colours_of(frame.scene)
            latest = frame.still
        if number in chosen:
            samples.append(raster.array(frame)[::2, ::2])
    inks = most_different(np.array([channels(colour) for colour in sorted(drawn)], np.uint8), _MOST_INKS)
    others = Image.fromarray(np.vstack(samples)).quantize(_MOST_COLOURS - len(inks)).getpalette("RGB")
    colours = np.vstack([inks, unlike(np.array(others, np.uint8).reshape(-1, 3), inks)])
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours.tobytes())
    table = np.zeros((256, 4), np.uint8)
    table[:, 0], table[: len(colours), 1:] = 255, colours  # opacity first

    def convert(frame: Frame) -> av.VideoFrame:
        image = Image.fromarray(raster.array(frame)).quantize(palette=palette, dither=Image.Dither.NONE)
        return av.VideoFrame.from_ndarray((np.asarray(image), table), format="pal8")  # type: ignore[arg-type]

    return convert


# The formats of films by suffix. MP4: every program plays it. WebM: royalty-free, for the web. GIF: 255 colours, every program
# shows it. Animated PNG and WebP: lossless loops in full colour, WebP the smaller one.

MP4 = Coding(
    "mp4", ("libx264", "libopenh264"), "yuv420p", step=2, container={"movflags": "+faststart"},
    options={"preset": "superfast", "crf": "18", "tune": "animation", "threads": "2"},
)  # fmt: skip
_WEBM = Coding(
    "webm", ("libvpx-vp9",), "yuv420p", "yuva420p", step=2,
    options={"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "threads": "2", "crf": "24", "b": "0"},
)  # fmt: skip
_GIF = Coding("gif", ("gif",), "pal8", container={"loop": "0"}, most_fps=50)
_APNG = Coding("apng", ("apng",), "rgb24", "rgba", container={"plays": "0"}, options={"pred": "up"})
_WEBP = Coding(
    "webp", ("libwebp_anim",), "bgra", "bgra", container={"loop": "0"}, options={"lossless": "1", "compression_level": "1"}
)


def _film_of(title: str, order: int, coding: Coding) -> Film:
    return Film(title, partial(save_film, coding=coding), bool(coding.clear_pixels), order, extra="film")


FILMS = {
    "mp4": _film_of(marked("MP4 video"), 10, MP4),
    "webm": _film_of(marked("WebM video"), 11, _WEBM),
    "gif": _film_of(marked("GIF animation"), 12, _GIF),
    "apng": _film_of(marked("Animated PNG"), 13, _APNG),
    "webp": _film_of(marked("WebP animation"), 14, _WEBP),
}
