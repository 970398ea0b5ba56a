"""The Dirichlet mechanism on probability vectors (Dirichlet simplex paper; proofs in dirichlet.md)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import positive, truth
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.mechanism import Published, adjacency_of
from veil.core.numerics.rounding import float_above, float_below
from veil.core.privacy.profile import Kind, PrivacyProfile
from veil.vectors.averages import NEIGHBOURS, Averaged
from veil.vectors.change import VectorChange
from veil.vectors.mechanisms.dirichlet_form import DirichletForm, checked_draws, log_dirichlet, shares
from veil.vectors.published_bounds import largest_threshold, published_bound
from veil.vectors.samplers.rounded_dirichlet import LEAST
from veil.vectors.simplex import Simplex, Transfer
from veil.vectors.two_entries import TwoEntries

__all__ = ["Dirichlet", "log_dirichlet"]

# Below it a floor is as good as none, and the profile would be lost in rounding.
_LEAST_FLOOR = 1e-30


@dataclass(frozen=True)
class Dirichlet(DirichletForm):
    """Release x ~ Dirichlet(k p) in place of the probability vector p.

    k: the concentration; the larger, the closer x is to p and the less private.
    domain: the Simplex, with its floor. A floor of zero protects nothing.
    smooth: first map p to (1 - n floor) p + floor, so that every vector, zeros included, is taken and
        the guarantee assumes nothing of it. Without smoothing the guarantee holds only among vectors
        that respect the floor (the paper's form).
    exact: draw the vector of real numbers, rounded to 28 bits, so that nothing is left to the rounding of
        floats. With exact=False floats are drawn; the guarantee then assumes real arithmetic.
    draws: the relative frequencies of so many draws from a Polya urn instead, as if outcomes were drawn from
        the Dirichlet vector: whole numbers only. The variance of x_i grows by the share k / draws.

    >>> from veil import vectors
    >>> mechanism = vectors.Dirichlet(20.6, vectors.Simplex(5, floor=0.073))
    >>> profile = mechanism.profile(vectors.Transfer.from_records(98))
    >>> round(profile.epsilon(0.0026), 3)
    0.629
    """

    k: float
    domain: Simplex
    _: KW_ONLY
    smooth: bool = False
    exact: bool = True
    draws: int | None = None
    name: ClassVar[str] = "Dirichlet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive("k", self.k))
        if not isinstance(self.domain, Simplex):
            raise InvalidArgument("domain", expected="a vectors.Simplex", found=type(self.domain).__name__)
        truth("smooth", self.smooth)
        object.__setattr__(self, "draws", checked_draws(self.exact, self.draws))
        if self.smooth and self._shrinkage <= 0.0:
            expected = f"less than 1/size = {1.0 / self.domain.size:g} where the vector is smoothed"
            raise InvalidArgument("domain.floor", expected=expected, found=f"{self.domain.floor:g}")

    @property
    def _shrinkage(self) -> float:
        return float_above(1 - self.domain.size * Fraction(self.domain.floor))

    @property
    def _accepted(self) -> Simplex:
        """The vectors that it takes: with smoothing those below the floor as well."""
        if not self.smooth:
            return self.domain
        return Simplex(self.domain.size, protected=self.domain.protected, slack=self.domain.slack)

    def validate(self, value: Any) -> Floats:
        return self._accepted.validate(value)

    def smoothed(self, vectors: Floats) -> Floats:
        """What the vectors become before the noise."""
        if not self.smooth:
            return vectors
        return self._shrinkage * vectors + self.domain.floor

    def float_shapes(self, valid: Floats) -> Floats:
        if not self.exact:
            return self.k * self.smoothed(shares(valid))
        # No entry above zero may become a shape of zero: that would be another law.
        return self.k * self.smoothed(np.where(valid > 0.0, np.maximum(valid, LEAST), 0.0))

    def exact_shape(self, entry: Any) -> Fraction:
        """k times the (smoothed) entry."""
        k, floor = Fraction(self.k), Fraction(self.domain.floor)
        if not self.smooth:
            return k * Fraction(entry)
        return k * ((1 - self.domain.size * floor) * Fraction(entry) + floor)

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The privacy profile for vectors whose entries exchange mass (dirichlet.md, l1.md)."""
        return self._profile_on(self._accepted, adjacency_of(self, adjacency, *NEIGHBOURS))

    def _profile_on(self, accepted: Simplex, near: VectorChange) -> PrivacyProfile:
        """The profile if these vectors, and no others, are taken."""
        least = self.domain.floor if self.smooth else accepted.floor
        size, k, floor = self.domain.size, Fraction(self.k), Fraction(least)
        if floor < _LEAST_FLOOR:
            raise NoGuarantee(
                "domain.floor: a floor of 0 protects nothing, since an entry that may be zero gives itself "
                f"away whatever k is. Expected a floor of at least {_LEAST_FLOOR:g}, found "
                f"{least:g}; smooth=True makes any vector respect the floor."
            )
        # How much protected entries can differ once smoothed.
        moved = accepted.largest_move(near) * (1 - size * floor if self.smooth else 1)
        kind: Kind = "exact" if self.draws is None else "upper bound"
        if size == 2:
            # The sum of the two is only known to be near 1, but for floats, which are divided by it.
            off = accepted.sum_error if self.exact else Fraction(0)
            wider = moved * (1 + off) / (1 - 2 * off)
            if wider <= 1 - 2 * floor:
                return TwoEntries(float_below(k * (1 - 2 * off)), least, float_above(wider), kind)
            kind = "upper bound"
        return near.worst_pair(k * floor, k * moved, kind, most=accepted.protected_count - 1)

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        return (*self._accepted.assumed(self.needed(adjacency)), *super().assumptions(adjacency))

    def needed(self, adjacency: Adjacency | None) -> frozenset[str]:
        """The borders of the vectors that the guarantee uses."""
        near = adjacency if isinstance(adjacency, VectorChange) else Transfer(1.0)
        return self._accepted.needed(lambda accepted: self._profile_on(accepted, near))

    def published(
        self,
        adjacency: Adjacency | None = None,
        *,
        gamma: float | None = None,
        delta: float | None = None,
        form: str = "theorem",
    ) -> Published:
        """The published bound, as printed, with the assumptions that fail (see `published_bound`).

        gamma: where the paper splits the output space; or delta: take the gamma of least epsilon.
        form: "theorem", or "corollary" for the looser closed form of the corollaries.
        """
        near: VectorChange = adjacency_of(self, adjacency, Transfer, Averaged)
        if near.entries(3) > 2:
            expected = "rows of which two entries exchange mass: a vectors.Transfer"
            raise InvalidArgument("adjacency.row", expected=expected, found="another change")
        if (gamma is None) == (delta is None):
            raise InvalidArgument("gamma", expected="either gamma or delta", found="both or neither")
        if gamma is None:
            assert delta is not None
            gamma = largest_threshold(self.k, self.domain, delta)
        return published_bound(self.k, self.domain, near.mass, gamma, form)
