"""A program that looks at gemmviz as a screen reader does: it starts the window on a real bus, walks its accessible objects, reads
a table and waits for an announcement. It prints what it found as JSON.

Run it in a session of its own bus, with a display: ``dbus-run-session -- python -m tests.gui.at_spi_client``.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from jeepney import DBusAddress, MatchRule, message_bus, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

_SPI = "org.a11y.atspi"
_REGISTRY, _ROOT = f"{_SPI}.Registry", "/org/a11y/atspi/accessible/root"
_LONG_S = 60.0
# Roles that only hold others (AtspiRole): extents, splitters, frames without a title of their own.
_STRUCTURE = {
    "filler",
    "panel",
    "layered pane",
    "split pane",
    "separator",
    "splitter",
    "grip",
    "scroll bar",
    "unknown",
    "invalid",
    "label",
    "viewport",
}
_FOCUSABLE = 11  # ATSPI_STATE_FOCUSABLE
_MOST_CHILDREN = 300


class Object(NamedTuple):
    """An accessible object: the name of its process on the bus, and its path."""

    bus: str
    path: str


class Reader:
    """A connection to the accessibility bus."""

    def __init__(self) -> None:
        with open_dbus_connection("SESSION") as session:
            bus = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            (address,) = session.send_and_get_reply(new_method_call(bus, "GetAddress")).body
        self.bus: DBusConnection = open_dbus_connection(address)

    def call(self, of: Object, interface: str, method: str, signature: str = "", *arguments: object) -> Any:
        """Call a method and return its first result."""
        place = DBusAddress(of.path, of.bus, interface)
        reply = self.bus.send_and_get_reply(new_method_call(place, method, signature or None, arguments), timeout=_LONG_S)
        if reply.header.message_type.name == "error":
            raise OSError(f"{interface}.{method}: {reply.body}")
        return reply.body[0] if reply.body else None

    def property(self, of: Object, interface: str, name: str) -> Any:
        return self.call(of, "org.freedesktop.DBus.Properties", "Get", "ss", f"{_SPI}.{interface}", name)[1]

    def children(self, of: Object) -> list[Object]:
        return [Object(*each) for each in self.call(of, f"{_SPI}.Accessible", "GetChildren")[:_MOST_CHILDREN]]

    def name(self, of: Object) -> str:
        return str(self.property(of, "Accessible", "Name"))

    def role(self, of: Object) -> str:
        return str(self.call(of, f"{_SPI}.Accessible", "GetRoleName"))

    def states(self, of: Object) -> int:
        low, high = self.call(of, f"{_SPI}.Accessible", "GetState")
        return int(low | high << 32)

    def interfaces(self, of: Object) -> list[str]:
        return [each.removeprefix(f"{_SPI}.") for each in self.call(of, f"{_SPI}.Accessible", "GetInterfaces")]

    def walk(self, of: Object) -> Iterator["Found"]:
        """Yield each object below another one."""
        for child in self.children(of):
            role, name = self.role(child), self.name(child)
            is_element = role not in _STRUCTURE or (role != "label" and bool(self.states(child) >> _FOCUSABLE & 1))
            is_nameless = not name.strip() and is_element  # an empty label says nothing
            yield Found(child, role, name, is_nameless)
            yield from self.walk(child)


class Found(NamedTuple):
    """An object of a walk, with its role and name."""

    object: Object
    role: str
    name: str
    is_nameless: bool


def _until(ready: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + _LONG_S
    while time.monotonic() < end:
        with suppress(OSError):  # an object went away while it was being looked at
            if result := ready():
                return result
        time.sleep(0.5)
    raise TimeoutError(what)


@contextmanager
def _window(*arguments: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "gemmviz", *arguments])
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


def _report(reader: Reader) -> dict[str, Any]:
    root = Object(_REGISTRY, _ROOT)
    program = _until(lambda: next((each for each in reader.children(root) if reader.name(each) == "gemmviz"), None), "gemmviz")
    found = _until(lambda: _settled(reader, program), "the table of A")
    table = next(each.object for each in found if _is_table_of_a(each))
    cell = Object(*reader.call(table, f"{_SPI}.Table", "GetAccessibleAt", "ii", 1, 2))
    return {
        "elements": len(found), "roles": sorted({each.role for each in found}),
        "nameless": [(each.role, each.object.path) for each in found if each.is_nameless],
        "table": {"name": reader.name(table), "interfaces": reader.interfaces(table),
                  "rows": reader.property(table, "Table", "NRows"), "columns": reader.property(table, "Table", "NColumns")},
        "cell": {"name": reader.name(cell), "role": reader.role(cell), "interfaces": reader.interfaces(cell)},
        "announced": _announced(reader, found),
    }  # fmt: skip


def _is_table_of_a(each: Found) -> bool:
    return each.role == "table" and each.name.startswith("A,")


def _settled(reader: Reader, program: Object) -> list[Found]:
    """Return all objects once the stage has its tables and nothing is being added; else nothing."""
    found = list(reader.walk(program))
    for each in found:
        if each.name.startswith("Pause"):  # the first start plays
            reader.call(each.object, f"{_SPI}.Action", "DoAction", "i", 0)
    time.sleep(1.0)
    return found if any(map(_is_table_of_a, found)) and found == list(reader.walk(program)) else []


def _announced(reader: Reader, found: list[Found]) -> str:
    """Press the button of the next step, and return what is announced."""
    rule = MatchRule(type="signal", interface=f"{_SPI}.Event.Object", member="Announcement")
    registry = Object(_REGISTRY, "/org/a11y/atspi/registry")
    reader.call(registry, _REGISTRY, "RegisterEvent", "s", "object:announcement")
    reader.bus.send_and_get_reply(message_bus.AddMatch(rule))
    button = next(each.object for each in found if each.name.startswith("Step forward"))
    with reader.bus.filter(rule) as signals:
        reader.call(button, f"{_SPI}.Action", "DoAction", "i", 0)
        signal = reader.bus.recv_until_filtered(signals, timeout=_LONG_S)
    return str(signal.body[3][1])


if __name__ == "__main__":
    os.environ |= {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "QT_QPA_PLATFORM": "xcb"}
    with _window("04_tiled", "-m", "8", "-n", "8", "-k", "8"):
        print(json.dumps(_report(Reader())))
