"""A table or figure of a paper that can be reproduced, and what a run gives it to work with."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from veil.core.random.streams import Rng
from veil_papers.references import Reference
from veil_papers.reproduction.data import Data
from veil_papers.reproduction.finding import Finding


@dataclass(frozen=True, slots=True)
class Run:
    """How a reproduction is run. quick: fewer repetitions, the same figures. tell: what is being done."""

    quick: bool = True
    data: Data = field(default_factory=Data)
    tell: Callable[[str], None] = lambda step: None

    def rng(self, name: str) -> Rng:
        """Always the same for the same name, which is a seed and nothing else: a page can be made again."""
        return np.random.default_rng(zlib.crc32(name.encode()))

    def many(self, full: int, quick: int) -> int:
        """How often something is repeated."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Exhibit:
    """name: as the paper calls it, "Figure 3". needs: the names of real data that it would like to have."""

    name: str
    title: str
    run: Callable[[Run], Finding]
    needs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """One of the five papers, with what is reproduced of it."""

    reference: Reference
    exhibits: tuple[Exhibit, ...]

    @property
    def name(self) -> str:
        """The name on the command line: "xor"."""
        return self.reference.name

    def cite(self, exhibit: Exhibit) -> str:
        """An exhibit as it is cited: "XOR paper, Figure 3"."""
        return self.reference.cite(exhibit.name)

    def slug(self, exhibit: Exhibit) -> str:
        """A name for files and links: xor-figure-3."""
        words = f"{self.name} {exhibit.name}".lower()
        return "-".join("".join(mark if mark.isalnum() else " " for mark in words).split())
