"""Opens and prints pages with a figure in Chromium, and writes the table of docs/embedding.md: make hosts. A host whose program
isn't installed is named and left out; host_pages.py says where they are looked for.
"""

import base64
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from host_pages import HOSTS, STEP, HostPage
from PIL import Image
from PySide6.QtWidgets import QApplication
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.support.ui import WebDriverWait

import gemmviz
from gemmviz.render.export import save_frame
from gemmviz.render.format import RenderOptions

PAGE = Path(__file__).resolve().parent.parent / "docs" / "embedding.md"
START, END = "<!-- hosts -->\n", "<!-- /hosts -->\n"
LIMIT = 4.0  # the largest mean difference of a channel, of 255
ROOTS = "[...document.querySelectorAll('figure')].map((each) => each.querySelector('[data-part=stage]')?.shadowRoot)"


def chromium() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("headless=new", "no-sandbox", "window-size=1400,1200", "force-device-scale-factor=1"):
        options.add_argument(f"--{word}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def command(driver: webdriver.Chrome, name: str, **values: Any) -> Any:
    run: Any = driver.execute_cdp_cmd
    return run(name, values)


def pixels(data: bytes) -> npt.NDArray[np.int64]:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return np.asarray(image.resize((960, 540), Image.Resampling.BOX)).astype(np.int64)


def differences(driver: webdriver.Chrome, folder: Path) -> Iterator[float]:
    """The mean difference of the canvas of each figure from the window's picture of the same step."""
    WebDriverWait(driver, 15).until(
        lambda _: driver.execute_script(f"return {ROOTS}.every((root) => root?.querySelector('.gemmviz')?.dataset.step)")
    )
    driver.execute_async_script("const done = arguments[0]; document.fonts.ready.then(() => setTimeout(done, 400))")
    for number in range(driver.execute_script(f"return {ROOTS}.length")):
        find = f"{ROOTS}[{number}].querySelector"
        driver.execute_script(
            f"const root = {ROOTS}[{number}], click = (name) => root.querySelector(`[data-do=${{name}}]`).click();"
            "Object.assign(root.host.style, { width: '1300px', maxWidth: 'none' }); click('back'); click('on')"
        )
        driver.execute_async_script("setTimeout(arguments[0], 200)")
        theme = driver.execute_script(f"return {find}('.gemmviz').dataset.theme")
        assert driver.execute_script(f"return {find}('.gemmviz').dataset.step") == str(STEP)
        drawn = driver.execute_script(f"return {find}('.live').toDataURL('image/png')").partition(",")[2]
        shot = gemmviz.scene("04_tiled", step=STEP, theme=theme, on="cpu").shown
        save_frame(shot, folder / "own.png", RenderOptions())
        yield float(np.abs(pixels(base64.b64decode(drawn)) - pixels((folder / "own.png").read_bytes())).mean())


def printed(driver: webdriver.Chrome, folder: Path, name: str) -> bool:
    """Whether the page on paper has the light blue of matrix A."""
    data = command(driver, "Page.printToPDF", printBackground=False)["data"]
    (folder / f"{name}.pdf").write_bytes(base64.b64decode(data))
    subprocess.run(["pdftoppm", "-r", "60", "-png", f"{name}.pdf", name], cwd=folder, check=True)
    return any(is_blue(np.asarray(Image.open(path).convert("RGB"))) for path in folder.glob(f"{name}-*.png"))


def is_blue(image: npt.NDArray[np.uint8]) -> bool:
    red, green, blue = image.astype(int).transpose(2, 0, 1)
    return bool(((blue > 200) & (blue - red > 25) & (green > 180)).mean() > 0.002)


@dataclass(frozen=True)
class Seen:
    """What a host shows: a figure that plays, a still without scripts, and either on paper."""

    plays: bool
    difference: float
    has_still: bool
    is_printed: bool
    is_still_printed: bool


def look(driver: webdriver.Chrome, page: HostPage, folder: Path) -> Seen:
    address = page.path.as_uri() + page.query
    driver.get(address)
    try:
        found = max(differences(driver, folder)) if page.plays else np.nan
    except (WebDriverException, AssertionError):
        found = np.nan
    driver.get("about:blank")
    driver.get(address)
    driver.execute_async_script("setTimeout(arguments[0], 1500)")
    driver.save_screenshot(str(folder / "seen.png"))
    on_paper = printed(driver, folder, "live")
    command(driver, "Emulation.setScriptExecutionDisabled", value=True)
    try:
        driver.get(page.path.as_uri())
        driver.save_screenshot(str(folder / "still.png"))
        has_still = is_blue(np.asarray(Image.open(folder / "still.png").convert("RGB")))
        return Seen(bool(found <= LIMIT), found, has_still, on_paper, printed(driver, folder, "still"))
    finally:
        command(driver, "Emulation.setScriptExecutionDisabled", value=False)


def row(name: str, page: HostPage, seen: Seen) -> str:
    def yes_or_no(fact: bool) -> str:
        return "yes" if fact else "no"

    plays = f"yes, {seen.difference:.1f}" if seen.plays else "no"
    facts = (plays, yes_or_no(seen.has_still), yes_or_no(seen.is_printed), yes_or_no(seen.is_still_printed), page.remark)
    return f"| {name} | {page.version} | {' | '.join(facts)} |\n"


def main() -> None:
    app = QApplication.instance() or QApplication(sys.argv)
    figure = gemmviz.figure("04_tiled", step=STEP, name="tiled", on="cpu").html
    driver, rows = chromium(), []
    browser = driver.capabilities["browserVersion"]
    try:
        for name, host in HOSTS.items():
            with TemporaryDirectory() as temporary:
                folder = Path(os.environ.get("HOSTS_KEEP") or temporary) / re.sub(r"\W+", "-", name)
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                try:
                    page = host(folder, figure)
                except FileNotFoundError as missing:
                    print(f"{name}: left out, {missing} is not installed", file=sys.stderr)
                    continue
                except RuntimeError as failed:
                    print(f"{name}: left out, {failed}", file=sys.stderr)
                    continue
                rows.append(row(name, page, look(driver, page, folder)))
                print(rows[-1], end="", flush=True)
    finally:
        driver.quit()
    del app
    names = "host", "version", "plays, difference", "still without scripts", "printed", "still printed", "remark"
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n"
    about = f"\nChromium {browser}, gemmviz {gemmviz.__version__}.\n"
    if "--write" in sys.argv and len(rows) < len(HOSTS):
        sys.exit(f"{PAGE} is unchanged: its table names all {len(HOSTS)} hosts")
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.partition(START)[0], text.partition(END)[2]
        PAGE.write_text(f"{before}{START}{head}{''.join(rows)}{about}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
