"""Keeps the screen on during a lecture, with the service of each operating system."""

import ctypes
import os
import subprocess
import sys
from typing import Any

_SERVICE, _PATH = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
_KEEP_ON, _AS_USUAL = 0x80000003, 0x80000000  # ES_CONTINUOUS | ES_SYSTEM_REQUIRED | ES_DISPLAY_REQUIRED; ES_CONTINUOUS


class Awake:
    """A request to keep the screen on. It has no effect on systems without such a service."""

    def __init__(self) -> None:
        self._cookie: Any = None
        self._caffeinate: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(_KEEP_ON)
        elif sys.platform == "darwin":
            self._caffeinate = subprocess.Popen(["caffeinate", "-d", "-w", str(os.getpid())])
        elif os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
            self._cookie = _ask("Inhibit", "gemmviz", "A lecture is shown")

    def end(self) -> None:
        if sys.platform == "win32":
            ctypes.windll.kernel32.SetThreadExecutionState(_AS_USUAL)
        elif self._caffeinate is not None:
            self._caffeinate.terminate()
            self._caffeinate = None
        elif self._cookie is not None:
            _ask("UnInhibit", self._cookie)
            self._cookie = None


def _ask(method: str, *facts: Any) -> Any:
    """Call a method of the desktop's screen saver and return its answer, None without a screen saver."""
    from PySide6.QtDBus import QDBusConnection, QDBusInterface

    service = QDBusInterface(_SERVICE, _PATH, _SERVICE, QDBusConnection.sessionBus())
    answer = service.call(method, *facts).arguments() if service.isValid() else []
    return answer[0] if answer else None
