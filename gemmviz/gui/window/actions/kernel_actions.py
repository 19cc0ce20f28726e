"""Actions on the kernel's text and its launch."""

from collections.abc import Iterator

from gemmviz.gui.widgets import dialogs
from gemmviz.gui.window.action import Action
from gemmviz.gui.window.action_context import ActionContext
from gemmviz.model.translation import tr


def kernel_actions() -> Iterator[Action]:
    """Yield the actions of the Edit menu on the kernel."""
    yield Action("edit-copy", "edit", tr("Edit a cop&y of the kernel"), lambda c: dialogs.edit_copy(c.model), apart=True)
    yield Action(
        "paste-kernel",
        "edit",
        tr("&Paste a kernel"),
        lambda c: dialogs.paste_kernel(c.model),
        ("Ctrl+Shift+V",),
        tr("paste a kernel"),
    )
    yield Action(
        "edit-launch", "edit", tr("&Launch of the kernel …"), lambda c: c.model.opening.edit_launch(), why_not=_needs_file
    )
    yield Action(
        "insert-header",
        "edit",
        tr("&Insert the launch as header"),
        lambda c: c.model.opening.insert_header(),
        why_not=_needs_plain_file,
    )


def _needs_file(context: ActionContext) -> str:
    return tr("This kernel ships with gemmviz: edit a copy") if context.model.session.shot.setup.kernel.is_shipped else ""


def _needs_plain_file(context: ActionContext) -> str:
    return "" if context.model.opening.can_insert_header else tr("This kernel has a header")
