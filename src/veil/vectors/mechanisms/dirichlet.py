"""The Dirichlet mechanism on probability vectors (Dirichlet simplex paper; proofs in dirichlet.md)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from veil.core.adjacency import Adjacency
from veil.core.arrays import Floats
from veil.core.checks import positive, truth
from veil.core.errors import InvalidArgument, NoGuarantee
from veil.core.intake import as_floats
from veil.core.mechanism import UNPROTECTED, Published, adjacency_of
from veil.core.numerics.rounding import float_above, float_below
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.core.privacy.profile import NothingRevealed, PrivacyProfile
from veil.vectors.counts import refuse
from veil.vectors.mechanisms.dirichlet_urn import UrnForm, checked_draws, draws_for, log_dirichlet
from veil.vectors.published_bounds import largest_threshold, published_bound
from veil.vectors.simplex import SUM_TOLERANCE, Simplex, Transfer
from veil.vectors.two_entries import TwoEntries

__all__ = ["Dirichlet", "log_dirichlet"]

# Below it a floor is as good as none, and the profile would be lost in rounding.
_LEAST_FLOOR = 1e-30


@dataclass(frozen=True)
class Dirichlet(UrnForm):
    """Release x ~ Dirichlet(k p) in place of the probability vector p.

    k: the concentration; the larger, the closer x is to p and the less private.
    domain: the Simplex, with its floor. A floor of zero protects nothing.
    smooth: first map p to (1 - n floor) p + floor, so that every vector, zeros included, is taken and
        the guarantee assumes nothing of it. Without smoothing the guarantee holds only among vectors
        that respect the floor (the paper's form).
    exact: draw in whole numbers, so that nothing is left to the rounding of floats: x are the relative
        frequencies of a Polya urn, as if `draws` outcomes were drawn from the Dirichlet vector. The
        guarantee is that of the Dirichlet vector, which is never made.
    draws: with exact=True. The variance of x_i is p_i (1 - p_i) (1 + k / draws) / (k + 1). None takes the
        power of two above 256 k (from 2^16 to 2^24): errors grow by at most 0.2 %, until k is above 65,536.

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
    exact: bool = False
    draws: int | None = None
    name: ClassVar[str] = "Dirichlet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive("k", self.k))
        if not isinstance(self.domain, Simplex):
            raise InvalidArgument("domain", expected="a vectors.Simplex", found=type(self.domain).__name__)
        truth("smooth", self.smooth)
        draws = checked_draws(self.exact, self.draws, draws_for(self.k))
        object.__setattr__(self, "draws", draws)
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
        normalised = self._accepted.validate(value)
        if not self.exact:
            return normalised
        # Unchanged: dividing by the sum would round every entry, each neighbour's in its own way.
        vectors = as_floats("value", value)
        if not self.smooth:
            expected = f"protected entries of at least the floor {self.domain.floor!r}, to the last bit"
            refuse(self.domain.guarded & (vectors < self.domain.floor), "below it", expected=expected)
        return vectors

    def smoothed(self, vectors: Floats) -> Floats:
        """What the vectors become before the noise."""
        if not self.smooth:
            return vectors
        return self._shrinkage * vectors + self.domain.floor

    def float_shapes(self, valid: Floats) -> Floats:
        return self.k * self.smoothed(valid)

    def exact_shapes(self, row: Floats) -> list[Fraction]:
        """k times the (smoothed) vector, each entry the rational that it is."""
        k, floor = Fraction(self.k), Fraction(self.domain.floor)
        if not self.smooth:
            return [k * Fraction(entry) for entry in row.tolist()]
        kept = k * (1 - self.domain.size * floor)
        return [kept * Fraction(entry) + k * floor for entry in row.tolist()]

    def profile(self, adjacency: Adjacency | None = None) -> PrivacyProfile:
        """The exact privacy profile for vectors that exchange mass (Theorems 1 and 2 of dirichlet.md)."""
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        floor = self.domain.floor
        if floor < _LEAST_FLOOR:
            raise NoGuarantee(
                "domain.floor: a floor of 0 protects nothing, since an entry that may be zero gives itself "
                f"away whatever k is. Expected a floor of at least {_LEAST_FLOOR:g}, found {floor:g}; "
                "smooth=True makes any vector respect the floor."
            )
        if self.exact:
            return self._profile_of_floats(Fraction(transfer.mass))
        # How much two protected entries can differ once smoothed.
        moved = min(transfer.mass, self._accepted.room) * (self._shrinkage if self.smooth else 1.0)
        if moved <= 0.0:
            return NothingRevealed()
        if self.domain.size == 2:
            return TwoEntries(self.k, floor, min(moved, 1.0 - 2.0 * floor))
        return SymmetricBetaPair(self.k * floor, self.k * moved)

    def _profile_of_floats(self, mass: Fraction) -> PrivacyProfile:
        """The profile for vectors that are not scaled, whose sum is nearly 1 (dirichlet.md, Theorem 3)."""
        size, k, floor = self.domain.size, Fraction(self.k), Fraction(self.domain.floor)
        off = 2 * Fraction(SUM_TOLERANCE) + Fraction(size, 2**50)
        moved = min(mass, Fraction(self._accepted.room) + off)
        if self.smooth:
            moved *= 1 - size * floor
        wider = float_above(moved + 2 * off)
        if size == 2 and Fraction(wider) <= 1 - 2 * floor:
            return TwoEntries(
                float_below(k * (1 - Fraction(1, 2**50))), self.domain.floor, wider, "upper bound"
            )
        return SymmetricBetaPair(float_below(k * floor), float_above(k * moved), "upper bound")

    def assumptions(self, adjacency: Adjacency | None = None) -> tuple[str, ...]:
        assumed = []
        if not self.smooth:
            assumed.append(self.domain.floor_assumption)
        if self.domain.slack:
            assumed.append(self.domain.slack_assumption)
        if self.domain.protected is not None:
            assumed.append(UNPROTECTED)
        if self.exact:
            # dirichlet.md, section 8; 1.1 for the rounding of what is printed.
            added = 1.1 * 2.0**-53 * math.sqrt(0.5 * self.k + 1.0)
            assumed.append(
                "neighbours are meant as the floats that they are; if their entries are rounded first, that "
                f"adds at most {added:.1e} (1 + e^epsilon) to delta"
            )
        return tuple(assumed)

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
        transfer: Transfer = adjacency_of(self, adjacency, Transfer)
        if (gamma is None) == (delta is None):
            raise InvalidArgument("gamma", expected="either gamma or delta", found="both or neither")
        if gamma is None:
            assert delta is not None
            gamma = largest_threshold(self.k, self.domain, delta)
        return published_bound(self.k, self.domain, transfer.mass, gamma, form)
