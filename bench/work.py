"""What a task of the benchmarks is given, and how it is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.measure import Growth, Missing, Ratio
from bench.peers.environment import Answer, Environments, PeerMissing

Found = list[Ratio] | list[Growth]


@dataclass
class Work:
    """How much to do, whom to compare with, and what could not be compared.

    quick: smaller data and fewer runs, the same rows. group: the chapter that is at work.
    """

    quick: bool = False
    peers: Environments = field(default_factory=Environments)
    group: str = ""
    missing: list[Missing] = field(default_factory=list)

    def either(self, quick: int, full: int) -> int:
        """A size, by how much is to be done."""
        return quick if self.quick else full

    def ask(
        self, peer: str, task: str, what: str, arrays: Mapping[str, Any] | None = None, **settings: Any
    ) -> Answer | None:
        """What a peer's script answers; None, and a note of it, where it cannot."""
        try:
            return self.peers.ask(peer, task, arrays, **settings)
        except PeerMissing as error:
            self.missing.append(Missing(self.group, what, peer, str(error)))
            return None


@dataclass(frozen=True, slots=True)
class Task:
    """One set of comparisons."""

    name: str
    group: str
    run: Callable[[Work], Found]
