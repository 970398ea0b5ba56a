"""The Dirichlet mechanism on counts: the form for data (proofs in dirichlet_counts.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from veil.domains.adjacency import Adjacency, Records
from veil.domains.checks import integer, positive
from veil.domains.contributions import Contributions
from veil.domains.counts import Counts, Integers
from veil.domains.intake import Floats
from veil.domains.simplex import Simplex
from veil.mechanisms.accuracy import Errors, dirichlet_errors
from veil.mechanisms.base import Described, adjacency_of
from veil.mechanisms.dirichlet import Dirichlet, log_dirichlet
from veil.privacy.contributions import gamma_contributions
from veil.privacy.pairs import GammaPair, SymmetricBetaPair
from veil.privacy.profile import PrivacyProfile
from veil.samplers.dirichlet import sample_dirichlet
from veil.samplers.randomness import Rng


@dataclass(frozen=True)
class DirichletCounts(Described):
    """Release x ~ Dirichlet(scale * counts + prior) in place of the relative frequencies.

    scale: how much a record weighs; the larger, the more accurate and the less private.
    prior: the pseudo-count that every category gets, public and positive; it hides the empty ones.
    size: the number of categories.

    The guarantee holds for every row of counts; nothing is assumed of the data.

    >>> import veil
    >>> mechanism = veil.DirichletCounts(2.2, 100, 17)
    >>> round(mechanism.profile(veil.Records("add-remove")).epsilon(1e-6), 3)
    0.996
    """

    scale: float
    prior: float
    size: int
    name: ClassVar[str] = "DirichletCounts"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "prior", positive("prior", self.prior))
        object.__setattr__(self, "size", integer("size", self.size, least=2))

    @property
    def domain(self) -> Counts:
        return Counts(self.size)

    def validate(self, value: Any) -> Integers:
        return self.domain.validate(value)

    def _shapes(self, counts: Any) -> Floats:
        return self.scale * np.asarray(counts, dtype=np.float64) + self.prior

    def _draw(self, rng: Rng, value: Any, size: int | None) -> Floats:
        return sample_dirichlet(rng, shapes=self._shapes(value), size=size)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The exact privacy profile, the worst over all counts."""
        change: Records | Contributions = adjacency_of(self, adjacency, Records, Contributions)
        if isinstance(change, Contributions):
            return self._contributed(change)
        if change.change == "replace":
            return SymmetricBetaPair(self.prior, self.scale)
        return GammaPair(self.prior, self.scale)

    def _contributed(self, change: Contributions) -> PrivacyProfile:
        """Records that may fall into several rows: each row is gamma variables divided by their sum."""
        if change == Contributions(1):
            return GammaPair(self.prior, self.scale)
        return gamma_contributions(self.prior, self.scale, change)

    def as_dirichlet(self, records: int) -> tuple[Dirichlet, float]:
        """The same release as Dirichlet(k p) on the smoothed frequencies of `records` records.

        k = scale records + size prior, the floor is prior / k, and a replaced record moves scale / k,
        which is returned beside it.
        """
        k = self.scale * integer("records", records, least=1) + self.size * self.prior
        return Dirichlet(k, Simplex(self.size, floor=self.prior / k)), self.scale / k

    def errors(self, value: Any) -> Errors:
        """The expected errors for these counts, in closed form. They depend on them: public ones only."""
        counts = self.validate(value).astype(np.float64)
        total = counts.sum()
        truth = counts / total if total > 0.0 else np.full(self.size, 1.0 / self.size)
        return dirichlet_errors(self._shapes(counts), truth)

    def log_density(self, outputs: Floats, value: Any) -> Floats:
        """The log density of each output if these counts lay behind it."""
        return log_dirichlet(outputs, self._shapes(self.validate(value)))
