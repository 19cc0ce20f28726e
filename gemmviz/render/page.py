"""A replay as a self-contained web page: the packed reel, and the player that draws it."""

from html import escape

from gemmviz.render.pack import packed
from gemmviz.render.page_script import page_asset, page_script, script_hash
from gemmviz.render.reel import Reel

_START = """
window.gemmviz = unpacked(document.getElementById("packed").textContent.trim())
  .then((data) => mount(document.getElementById("replay"), data));
"""


def page_html(reel: Reel, theme: str) -> str:
    """Return the page as HTML. Its content security policy allows its own script and style, and no network."""
    template, style, pack = page_asset("page.html"), page_asset("style.css"), packed(reel, theme)
    style = f"html, body {{ margin: 0; height: 100%; background: {pack.background}; }}\n{style}"
    player = page_script(_START)
    policy = page_policy(player, style)
    return template.format(title=escape(reel.name), policy=policy, style=style, packed=pack.text, player=player)


def page_policy(script: str, style: str) -> str:
    """Return the content security policy: one script and one style by their hashes, and nothing else.

    No text can become a script, and the script can't turn text into markup (Trusted Types).
    """
    rules = {
        "default-src": "'none'", "script-src": script_hash(script), "style-src": script_hash(style),
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'",
    }  # fmt: skip
    return "; ".join(f"{name} {value}" for name, value in rules.items())
