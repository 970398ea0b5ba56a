"""The Dirichlet mechanism on counts: the form for data (proofs in dirichlet_counts.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import integer, positive
from veil.core.mechanism import adjacency_of
from veil.core.privacy.pairs import GammaPair, SymmetricBetaPair
from veil.core.privacy.profile import Kind, PrivacyProfile
from veil.vectors.contribution_profiles import gamma_contributions
from veil.vectors.counts import Contributions, Counts, Integers, Records
from veil.vectors.mechanisms.dirichlet import Dirichlet
from veil.vectors.mechanisms.dirichlet_form import DirichletForm, checked_draws
from veil.vectors.simplex import Simplex


@dataclass(frozen=True)
class DirichletCounts(DirichletForm):
    """Release x ~ Dirichlet(scale * counts + prior) in place of the relative frequencies.

    scale: how much a record weighs; the larger, the more accurate and the less private.
    prior: the pseudo-count that every category gets, public and positive; it hides the empty ones.
    size: the number of categories.
    exact: draw the vector of real numbers, rounded to 28 bits, so that nothing is left to the rounding of
        floats. With exact=False floats are drawn; the guarantee then assumes real arithmetic.
    draws: the relative frequencies of so many draws from a Polya urn instead: whole numbers only. Public, so
        not to be chosen by looking at a secret number of records. The variance of x_i grows by the share
        (scale records + size prior) / draws.

    The guarantee holds for every row of counts; nothing is assumed of the data.

    >>> from veil import vectors
    >>> mechanism = vectors.DirichletCounts(2.2, 100, 17)
    >>> round(mechanism.profile(vectors.Records("add-remove")).epsilon(1e-6), 3)
    0.996
    """

    scale: float
    prior: float
    size: int
    _: KW_ONLY
    exact: bool = True
    draws: int | None = None
    name: ClassVar[str] = "DirichletCounts"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "prior", positive("prior", self.prior))
        object.__setattr__(self, "size", integer("size", self.size, least=2))
        object.__setattr__(self, "draws", checked_draws(self.exact, self.draws))

    @property
    def domain(self) -> Counts:
        return Counts(self.size)

    def validate(self, value: Any) -> Integers:
        return Counts(self.size).validate(value)

    def float_shapes(self, valid: Any) -> Floats:
        return self.scale * np.asarray(valid, dtype=np.float64) + self.prior

    def exact_shape(self, entry: Any) -> Fraction:
        """scale * count + prior."""
        return Fraction(self.scale) * int(entry) + Fraction(self.prior)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The exact privacy profile, the worst over all counts; of an urn it is an upper bound."""
        change: Records | Contributions = adjacency_of(self, adjacency, Records, Contributions)
        kind: Kind = "exact" if self.draws is None else "upper bound"
        if change == Records("replace"):
            return SymmetricBetaPair(self.prior, self.scale, kind)
        if isinstance(change, Records) or change == Contributions(1):
            return GammaPair(self.prior, self.scale, kind)
        # Records that may fall into several rows: each row is gamma variables divided by their sum.
        return gamma_contributions(self.prior, self.scale, change)

    def as_dirichlet(self, records: int) -> tuple[Dirichlet, float]:
        """The same release as Dirichlet(k p) on the smoothed frequencies of `records` records.

        k = scale records + size prior, the floor is prior / k, and a replaced record moves scale / k,
        which is returned beside it.
        """
        k = self.scale * integer("records", records, least=1) + self.size * self.prior
        return Dirichlet(k, Simplex(self.size, floor=self.prior / k)), self.scale / k
