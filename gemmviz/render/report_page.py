"""A report as a self-contained web page: text, and players of several replays."""

from html import escape

from gemmviz.render.page import page_policy
from gemmviz.render.page_script import page_asset, page_script


def report_html(title: str, body: str) -> str:
    """Return a page with a ``body`` of HTML, whose elements with ``data-replay`` become players of the packed data in the
    elements with those ids.
    """
    style = f"{page_asset('style.css')}\n{page_asset('report.css')}"
    script = page_script(page_asset("report.js"))
    policy = page_policy(script, style)
    return page_asset("report.html").format(title=escape(title), policy=policy, style=style, body=body, script=script)
