"""A report as a self-contained web page: text, and players of several replays."""

from collections.abc import Iterable
from html import escape

from gemmviz.files.resources import resource
from gemmviz.render.page import Packed, page_policy

_FILES = ("report.html", "report.css", "style.css", "player.js", "report.js")


def report_html(title: str, body: str, packs: Iterable[Packed]) -> str:
    """Return a page with a ``body`` of HTML, whose elements with ``data-replay`` become players of the packed data in the
    elements with those ids, at the steps ``data-start``.
    """
    template, own, style, player, start = (resource(f"assets/page/{name}").read_text(encoding="utf-8") for name in _FILES)
    style = "\n".join((*(each.fonts for each in packs), style, own))
    script = player.replace("export default {", "const notebook = {").replace("export ", "") + start
    policy = page_policy(script, style)
    return template.format(title=escape(title), policy=policy, style=style, body=body, script=script)
