"""A sink that passes every access on to several others."""

from typing import Any

from gemmviz.model.sinks import AccessSink, Bools
from gemmviz.model.sites import Site
from gemmviz.model.trace import Longs


class Tee(AccessSink):
    def __init__(self, *sinks: AccessSink) -> None:
        self.sinks = sinks

    def started(self, machine: Any) -> None:
        for sink in self.sinks:
            sink.started(machine)

    def ended(self) -> None:
        for sink in self.sinks:
            sink.ended()

    def site(self, site: Site) -> None:
        for sink in self.sinks:
            sink.site(site)

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        for sink in self.sinks:
            sink.access(site, offset, mask, visits, epoch)

    def value(self, value: Any) -> None:
        for sink in self.sinks:
            sink.value(value)

    def origins(self, tags: list[Any]) -> None:
        for sink in self.sinks:
            sink.origins(tags)
