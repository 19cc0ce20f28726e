"""Colours that must be told apart can be, by anybody: contrast of text, and distance for normal vision, deuteranopia, protanopia."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from gemmviz.files.recordings import recordings
from gemmviz.model.arrays import Floats
from gemmviz.model.timing import Benchmark
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.chart import curve_colours
from gemmviz.scenes.kit.theme import AREA, BASE, LIT, SOURCE, Theme, channels, inks_for, load_theme, matrix_palette, theme_names
from gemmviz.scenes.kit.timeline import timeline_palette

THEMES = [load_theme(name) for name in theme_names()]
# Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency (2009), severity 1.0.
VISIONS: dict[str, Floats] = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
}


def linear(colour: str) -> Floats:
    each = np.array(channels(colour)) / 255
    return np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4)


def lab(colour: str, vision: str) -> Floats:
    """CIE L*a*b*, D65, of what somebody with this vision sees."""
    seen = np.clip(VISIONS[vision] @ linear(colour), 0, 1)
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    x, y, z = to_xyz @ seen / np.array([0.95047, 1.0, 1.08883])
    f = [np.cbrt(each) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str) -> float:
    """The least over all visions."""
    return min(seen_apart(a, b, vision) for vision in VISIONS)


def seen_apart(a: str, b: str, vision: str) -> float:
    return float(np.linalg.norm(lab(a, vision) - lab(b, vision)))


def contrast(a: str, b: str) -> float:
    """WCAG 2."""
    light, dark = sorted((float(np.array([0.2126, 0.7152, 0.0722]) @ linear(each)) for each in (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def nearest(colours: dict[str, str]) -> tuple[float, str]:
    return min((distance(a, b), f"{name} and {other}") for (name, a), (other, b) in combinations(colours.items(), 2))


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.title)
class TestTheme:
    def test_words_can_be_read(self, theme: Theme) -> None:
        for ground in (theme.background, theme.panel, theme.empty):
            assert contrast(theme.text, ground) >= 7
            assert contrast(theme.faint, ground) >= 4.5
            assert contrast(theme.warning, ground) >= 4.5

    def test_names_of_matrices_can_be_read_large(self, theme: Theme) -> None:
        for name in "ABC":
            assert contrast(theme.accent(name), theme.background) >= (2.1 if theme.is_dark is False else 4.5), name

    def test_labels_can_be_read_on_their_cells(self, theme: Theme) -> None:
        for name in "ABC":
            palette = matrix_palette(theme, name, theme.warps)
            for colour, ink in list(zip(palette, inks_for(theme, palette), strict=True))[1:]:
                assert contrast(colour, ink) >= (4.0 if theme.is_grey else 4.5), (name, colour)

    def test_matrices_are_told_apart(self, theme: Theme) -> None:
        far, which = nearest({name: theme.accent(name) for name in "ABC"})
        assert far >= 25, which

    def test_states_of_a_cell_are_told_apart(self, theme: Theme) -> None:
        for name in "ABC":
            palette = matrix_palette(theme, name, theme.warps)
            states = {"rest": BASE, "this phase": AREA, "now": LIT}
            assert palette[SOURCE] == palette[AREA]  # there are three lights
            far, which = nearest({state: palette[entry] for state, entry in states.items()})
            assert far >= (4 if theme.is_grey else 8), (name, which)

    def test_warps_have_one_lightness_and_muted_hues(self, theme: Theme) -> None:
        light = [lab(colour, "normal")[0] for colour in theme.warps]
        assert theme.is_grey or max(light) - min(light) <= 2
        assert all(float(np.hypot(*lab(colour, "normal")[1:])) <= 52 for colour in theme.warps)

    def test_warps_are_told_apart_and_from_the_matrices(self, theme: Theme) -> None:
        """All by normal vision. Without red or green one lightness leaves little: there, successive warps differ."""
        if theme.is_grey:
            assert nearest({str(number): colour for number, colour in enumerate(theme.warps)})[0] >= 8
            return
        for a, b in combinations(theme.warps, 2):
            assert seen_apart(a, b, "normal") >= 16, (a, b)
            assert distance(a, b) >= 7, (a, b)
        for a, b in pairwise((*theme.warps, theme.warps[0])):
            assert distance(a, b) >= 18, (a, b)
        for colour in theme.warps:
            for other in (*theme.accents.values(), theme.warning):
                assert seen_apart(colour, other, "normal") >= 25, (colour, other)
                assert distance(colour, other) >= 14, (colour, other)

    def test_lanes_and_load_are_far_from_the_matrices(self, theme: Theme) -> None:
        for colour in (*theme.lanes, theme.load) if not theme.is_grey else ():
            assert min(seen_apart(colour, theme.accent(name), "normal") for name in "ABC") >= 25, colour

    def test_load_grows_with_its_share(self, theme: Theme) -> None:
        shades = [theme.loaded(share / 4) for share in range(5)]
        assert shades[0] == theme.empty
        assert shades[-1] == theme.load
        for a, b in pairwise(shades):
            assert distance(a, b) >= 4, (a, b)

    def test_levels_of_memory_are_shades_of_slate(self, theme: Theme) -> None:
        for place in range(6):
            assert float(np.hypot(*lab(theme.level(place), "normal")[1:])) <= 9
        assert contrast(theme.text, theme.slate) >= 7
        assert all(contrast(theme.level(place), theme.background) >= 3 for place in range(4))

    def test_voices_of_the_score_are_told_apart(self, theme: Theme) -> None:
        palette = timeline_palette(theme)
        far, which = nearest({str(entry): palette[entry] for entry in (0, 2, 4, 6, 8, 10)})
        assert far >= (4 if theme.is_grey else 18), which

    def test_curves_of_charts_are_told_apart(self, theme: Theme) -> None:
        view = view_named("rate")
        assert view.chart is not None
        colours = curve_colours(view.chart(recordings("benchmark", Benchmark)[0]), theme)
        far, which = nearest(colours)
        assert theme.is_grey or far >= 8, which  # there, markers tell them apart
        for family, colour in colours.items():
            assert contrast(colour, theme.background) >= 4.5, family


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.title)
def test_lanes_grow_lighter_in_order(theme: Theme) -> None:
    for vision in VISIONS:
        light = [lab(colour, vision)[0] for colour in theme.lanes]
        assert all(later - earlier >= 4 for earlier, later in pairwise(light)), vision
