"""What is shown, as one value, and everything that happens to it; without Qt."""

import sys
from types import ModuleType
from typing import Any


class _Showing(ModuleType):
    """This package has the name of a function of the library: it can be called as that."""

    def __call__(self, *what: Any, **options: Any) -> Any:
        from gemmviz.api import show

        return show(*what, **options)


sys.modules[__name__].__class__ = _Showing
