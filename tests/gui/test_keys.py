"""The keys of the window: one table makes shortcuts, menu, the list of shortcuts, and the manual's table."""

import re
from pathlib import Path

from gemmviz.gui.window.actions.view_actions import VIEW_KEYS
from gemmviz.gui.window.menus import actions, keys_text

_MANUAL = (Path(__file__).parents[2] / "docs" / "window.md").read_text()


def test_number_keys_go_by_the_names_of_views_as_in_the_manual() -> None:
    keys = {action.keys[0]: action for action in actions() if action.id.startswith("view-") and action.keys}
    assert {key: action.id.removeprefix("view-") for key, action in keys.items()} == dict(
        zip("123456789", ("stage", "warp", "request", "banks", "memory", "occupancy", "grid", "why", "pair"), strict=True)
    )
    assert [action.menu for action in keys.values()] == ["view"] * 9
    row = re.search(r"\| 1 … 9 \| (.*?) \|", _MANUAL)
    assert row is not None
    assert row[1].split(", ") == list(VIEW_KEYS.values())
    for heading, key in re.findall(r"\*\*([A-Z][^*]*)\*\* \([^)]*key (\d)", _MANUAL):
        assert list(VIEW_KEYS.values())[int(key) - 1].lower()[:6] in heading.lower()
    assert all(f"<b>{key}</b></td><td>{name}<" in keys_text(actions()) for key, name in enumerate(VIEW_KEYS.values(), 1))
