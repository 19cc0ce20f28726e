"""Draws a contact sheet of all steps of the course for the docs: make contact-sheet."""

import io
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from gemmviz.export.prepare import ExportOptions
from gemmviz.launch.catalog import COURSE
from gemmviz.render.export import save_numbered
from gemmviz.render.format import RenderOptions
from gemmviz.run.choosing import engine_for
from gemmviz.teaching.lesson_file import shipped_lesson
from gemmviz.teaching.reel import lesson_reel

SHEET = Path(__file__).resolve().parent.parent / "assets" / "pictures" / "course.png"
WIDTH, HEIGHT, COLUMNS, GAP = 400, 225, 6, 6


def main() -> None:
    look, engine = RenderOptions(4 * WIDTH, 4 * HEIGHT), engine_for("cpu")
    reel = lesson_reel(shipped_lesson(COURSE), lambda kernel: nullcontext(engine), ExportOptions(look))
    with TemporaryDirectory() as folder:
        paths = save_numbered(reel, Path(folder) / "step", "png", look)
        rows = -(-len(paths) // COLUMNS)
        sheet = Image.new("RGB", (COLUMNS * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP), "#10141A")
        for place, path in enumerate(paths):
            with Image.open(path) as picture:
                small = picture.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
            sheet.paste(small, (place % COLUMNS * (WIDTH + GAP), place // COLUMNS * (HEIGHT + GAP)))
    data = io.BytesIO()
    sheet.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(data, "png", optimize=True)
    SHEET.write_bytes(data.getvalue())
    print(f"{len(paths)} steps, {len(data.getvalue()) // 1024} KiB")


if __name__ == "__main__":
    main()
